-- A census: one row for each person.

-- count all
SELECT COUNT(*) AS n FROM people;
-- count under a schema
SELECT COUNT(*) AS n FROM census.people;
-- one sum
SELECT SUM(age) AS years FROM people;
-- count and variance
SELECT COUNT(*) AS n, VAR_SAMP(age) AS spread FROM people;
-- mean by two keys
SELECT married, sex, AVG(age) AS mean_age FROM people GROUP BY married, sex;
-- second name for the table
SELECT p.married, AVG(p.age) AS mean_age FROM people AS p GROUP BY p.married;
-- first few groups
SELECT TOP 5 schooling, AVG(income) AS pay FROM people GROUP BY schooling ORDER BY schooling;
-- plain: SELECT schooling, AVG(income) AS pay FROM people GROUP BY schooling ORDER BY schooling LIMIT 5
-- count of values
SELECT COUNT(income) AS earning, AVG(age) AS mean_age FROM people;
-- constant column beside keys
SELECT 2024 AS year, sex, AVG(income) AS pay FROM people GROUP BY sex;
-- keys alone
SELECT state FROM people GROUP BY state;
-- different keys
SELECT DISTINCT state FROM people;
-- alias that is also a column
SELECT SUM(age) AS age FROM people;
-- brackets around an aggregate
SELECT (SUM(age)) AS years, (COUNT(*)) AS n FROM people;
-- multiple of a sum
SELECT SUM(income) * 12 AS yearly FROM people;
-- mean by hand
SELECT SUM(income) / COUNT(income) AS pay FROM people;
-- power of a mean
SELECT POWER(AVG(age), 2) AS squared FROM people;
-- root of a variance
SELECT SQRT(VAR_POP(age)) AS deviation FROM people;
-- logarithm of a count
SELECT LN(COUNT(*)) AS logged, LOG2(COUNT(*)) AS doublings FROM people;
-- a constant of mathematics
SELECT PI() * COUNT(*) AS circumference FROM people;
-- group by a choice that is not selected
SELECT SUM(age) AS years FROM people GROUP BY married, CASE WHEN age > 65 THEN 1 ELSE 0 END;
-- plain: SELECT married, CASE WHEN age > 65 THEN 1 ELSE 0 END, SUM(age) AS years FROM people GROUP BY 1, 2
-- choice with IIF
SELECT IIF(age >= 18, 'adult', 'minor') AS stage, COUNT(*) AS n FROM people GROUP BY stage;
-- plain: SELECT CASE WHEN age >= 18 THEN 'adult' ELSE 'minor' END AS stage, COUNT(*) AS n FROM people GROUP BY stage
-- simple CASE
SELECT CASE sex WHEN 'F' THEN 'women' ELSE 'men' END AS who, COUNT(*) AS n FROM people GROUP BY 1;
-- age bands by arithmetic
SELECT age // 10 * 10 AS decade, COUNT(*) AS n FROM people GROUP BY decade ORDER BY decade;
-- age bands by CASE
SELECT CASE WHEN age < 18 THEN 'child' WHEN age BETWEEN 18 AND 64 THEN 'working age' ELSE 'senior' END AS band, COUNT(*) AS n, AVG(income) AS pay FROM people GROUP BY band;
-- equal buckets
SELECT WIDTH_BUCKET(age, 0, 100, 5) AS bucket, COUNT(*) AS n FROM people GROUP BY bucket;
-- plain: SELECT CAST(floor(age / 20.0) + 1 AS BIGINT) AS bucket, COUNT(*) AS n FROM people GROUP BY bucket
-- condition on groups
SELECT state, COUNT(*) AS n FROM people GROUP BY state HAVING COUNT(*) > 40;
-- condition by alias
SELECT state, AVG(income) AS pay FROM people GROUP BY state HAVING pay > 30000 ORDER BY pay DESC;
-- order by an aggregate
SELECT schooling, COUNT(*) AS n FROM people GROUP BY schooling ORDER BY COUNT(*) DESC LIMIT 3;
-- order by position
SELECT sex, married, COUNT(*) AS n FROM people GROUP BY 1, 2 ORDER BY 1 DESC, 2;
-- share of a condition
SELECT 100.0 * COUNT_IF(married) / COUNT(*) AS percent_married FROM people;
-- share by CASE
SELECT state, SUM(CASE WHEN married THEN 1 ELSE 0 END) / COUNT(*) AS share FROM people GROUP BY state;
-- share by AVG of CASE
SELECT sex, AVG(CASE WHEN income > 50000 THEN 1.0 ELSE 0 END) AS well_off FROM people GROUP BY sex;
-- two filters
SELECT COUNT(*) FILTER (WHERE sex = 'F') AS women, COUNT(*) FILTER (WHERE sex = 'M') AS men FROM people;
-- difference of filtered means
SELECT AVG(income) FILTER (WHERE sex = 'M') - AVG(income) FILTER (WHERE sex = 'F') AS gap FROM people;
-- rounded mean
SELECT sex, ROUND(AVG(income), 2) AS pay FROM people GROUP BY sex;
-- median
SELECT MEDIAN(age) AS middle FROM people;
-- within: 3
-- quartiles in the standard's spelling
SELECT PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY age) AS q1, PERCENTILE_CONT(0.75) WITHIN GROUP (ORDER BY age) AS q3 FROM people;
-- within: 3
-- range
SELECT MAX(age) - MIN(age) AS width FROM people;
-- within: 8
-- interquartile range
SELECT QUANTILE(age, 0.75) - QUANTILE(age, 0.25) AS iqr FROM people;
-- plain: SELECT quantile_cont(age, 0.75) - quantile_cont(age, 0.25) AS iqr FROM people
-- within: 5
-- covariance and correlation
SELECT COVAR_POP(age, schooling) AS together, CORR(age, schooling) AS r FROM people;
-- different values
SELECT COUNT(DISTINCT schooling) AS levels FROM people;
-- different values of a choice
SELECT COUNT(DISTINCT CASE WHEN married THEN state END) AS states FROM people;
-- different pairs
SELECT COUNT(DISTINCT sex, state) AS pairs FROM people;
-- refused
-- noise interval of a count
SELECT sex, COUNT(*) AS n, DP_INTERVAL_LOW(n) AS lowest, DP_INTERVAL_HIGH(n) AS highest FROM people GROUP BY sex;
-- plain: SELECT sex, COUNT(*) AS n, COUNT(*) AS lowest, COUNT(*) AS highest FROM people GROUP BY sex
-- noise interval of an aggregate
SELECT DP_INTERVAL_LOW(SUM(age)) AS low_end, SUM(age) AS years FROM people;
-- plain: SELECT SUM(age) AS low_end, SUM(age) AS years FROM people
-- choice over an aggregate
SELECT state, CASE WHEN COUNT(*) > 40 THEN 1 ELSE 0 END AS large FROM people GROUP BY state;
-- group by everything else
SELECT sex, married, COUNT(*) AS n FROM people GROUP BY ALL;
-- any value of a key
SELECT ANY_VALUE(sex) AS sex, COUNT(*) AS n FROM people GROUP BY sex;
-- negative number
SELECT SUM(-1 * age) AS minus FROM people WHERE age > 20;
-- remainder
SELECT age % 2 AS odd, COUNT(*) AS n FROM people GROUP BY odd;
-- text functions on a key
SELECT UPPER(LEFT(state, 2)) AS short, COUNT(*) AS n FROM people WHERE LENGTH(state) > 3 GROUP BY short;
-- random column
SELECT RANDOM() AS r, COUNT(*) AS n FROM people;
-- refused
-- single rows
SELECT age, income FROM people WHERE state = 'Ohio';
-- refused
-- running total
SELECT age, SUM(income) OVER (ORDER BY age) AS running FROM people;
-- refused
