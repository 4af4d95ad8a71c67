-- What somebody would try first, about the visits of the hospital.

-- how many
SELECT COUNT(*) FROM visits;
-- plain: SELECT COUNT(*) AS count FROM visits
-- how many people
SELECT COUNT(DISTINCT patient_id) FROM visits;
-- plain: SELECT COUNT(DISTINCT patient_id) AS count_patient_id FROM visits
-- look at the table
SELECT * FROM visits LIMIT 10;
-- refused
-- one column
SELECT diagnosis FROM visits;
-- refused
-- how many in each ward
SELECT ward, COUNT(*) FROM visits GROUP BY ward;
-- plain: SELECT ward, COUNT(*) AS count FROM visits GROUP BY ward
-- forgotten GROUP BY
SELECT ward, COUNT(*) AS n FROM visits;
-- refused
-- the mean
SELECT AVG(cost) FROM visits;
-- plain: SELECT AVG(cost) AS mean_cost FROM visits
-- the mean by ward
SELECT ward, AVG(cost) AS mean FROM visits GROUP BY ward;
-- the highest
SELECT MAX(cost) AS most FROM visits;
-- within: 60
-- old people
SELECT COUNT(*) AS n FROM visits WHERE age > 80;
-- text in double quotes
SELECT COUNT(*) AS n FROM visits WHERE ward = "surgery";
-- refused
-- text in single quotes
SELECT COUNT(*) AS n FROM visits WHERE ward = 'surgery';
-- misspelled column
SELECT AVG(csot) AS mean FROM visits;
-- refused
-- misspelled table
SELECT COUNT(*) AS n FROM visit;
-- refused
-- sum of everything
SELECT SUM(cost) AS total FROM visits WHERE admitted >= '2024-06-01';
-- by year
SELECT YEAR(admitted) AS year, COUNT(*) AS n FROM visits GROUP BY YEAR(admitted);
-- most common
SELECT diagnosis, COUNT(*) AS n FROM visits GROUP BY diagnosis ORDER BY n DESC LIMIT 3;
-- all wards
SELECT DISTINCT diagnosis FROM visits;
-- several at once
SELECT COUNT(*) AS n, AVG(age) AS age, SUM(cost) AS cost FROM visits WHERE urgent = TRUE;
-- percent
SELECT 100 * AVG(CASE WHEN urgent THEN 1 ELSE 0 END) AS percent FROM visits;
-- or
SELECT COUNT(*) AS n FROM visits WHERE ward = 'surgery' OR age < 10;
-- between
SELECT COUNT(*) AS n FROM visits WHERE age BETWEEN 20 AND 40;
-- ages in tens
SELECT age / 10 AS tens, COUNT(*) AS n FROM visits GROUP BY tens;
-- plain: SELECT age // 10 AS tens, COUNT(*) AS n FROM visits GROUP BY tens
-- median
SELECT MEDIAN(age) FROM visits;
-- plain: SELECT MEDIAN(age) AS median_age FROM visits
-- within: 3
-- visits per patient
SELECT COUNT(*) / COUNT(DISTINCT patient_id) AS each FROM visits;
-- who cost most
SELECT patient_id, SUM(cost) AS total FROM visits GROUP BY patient_id ORDER BY total DESC LIMIT 5;
-- refused
-- by month, the column first
SELECT DATE_TRUNC(admitted, MONTH) AS month, COUNT(*) AS n FROM visits GROUP BY month;
-- plain: SELECT DATE_TRUNC('month', admitted) AS month, COUNT(*) AS n FROM visits GROUP BY month
-- by the last day of the month
SELECT LAST_DAY(admitted) AS month, COUNT(*) AS n FROM visits GROUP BY month;
-- days in hospital, the part first
SELECT ward, AVG(TIMESTAMPDIFF(DAY, admitted, discharged)) AS days FROM visits GROUP BY ward;
-- plain: SELECT ward, AVG(DATE_DIFF('day', admitted, discharged)) AS days FROM visits GROUP BY ward
-- days in hospital, the part last
SELECT AVG(DATE_DIFF(discharged, admitted, DAY)) AS days FROM visits;
-- plain: SELECT AVG(DATE_DIFF('day', admitted, discharged)) AS days FROM visits
-- two kinds
SELECT IFF(age < 18, 'child', 'adult') AS kind, COUNT(*) AS n FROM visits GROUP BY kind;
-- plain: SELECT CASE WHEN age < 18 THEN 'child' ELSE 'adult' END AS kind, COUNT(*) AS n FROM visits GROUP BY kind
-- known or not
SELECT NVL2(diagnosis, 'known', 'unknown') AS kind, COUNT(*) AS n FROM visits GROUP BY kind;
-- plain: SELECT CASE WHEN diagnosis IS NULL THEN 'unknown' ELSE 'known' END AS kind, COUNT(*) AS n FROM visits GROUP BY kind
-- since some days before
SELECT COUNT(*) AS n FROM visits WHERE admitted > DATEADD(day, -30, DATE '2024-07-01');
-- plain: SELECT COUNT(*) AS n FROM visits WHERE admitted > DATE '2024-06-01'
-- part of a text
SELECT SPLIT_PART(diagnosis, ' ', 1) AS word, COUNT(*) AS n FROM visits GROUP BY word;
-- names for codes
SELECT DECODE(ward, 'surgery', 'S', 'maternity', 'M', 'other') AS code, COUNT(*) AS n FROM visits GROUP BY code;
-- plain: SELECT CASE ward WHEN 'surgery' THEN 'S' WHEN 'maternity' THEN 'M' ELSE 'other' END AS code, COUNT(*) AS n FROM visits GROUP BY code
-- slope of a line
SELECT REGR_SLOPE(cost, age) AS slope FROM visits;
-- refused
-- days in hospital, as in MySQL
SELECT AVG(DATEDIFF(discharged, admitted)) AS days FROM visits;
-- plain: SELECT AVG(DATE_DIFF('day', admitted, discharged)) AS days FROM visits
-- the most frequent, as a list
SELECT TOP_K(ward, 3) FROM visits;
-- plain: SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY n DESC LIMIT 3
-- how many lack a date
SELECT COUNT_IF(ISNULL(discharged)) AS still_here, SUM(ISNULL(cost, 0)) AS total FROM visits;
-- plain: SELECT COUNT_IF(discharged IS NULL) AS still_here, SUM(COALESCE(cost, 0)) AS total FROM visits
-- a constant that is computed
SELECT 2024 - 1 AS year, COUNT(*) AS n FROM visits;
-- a share of two questions
SELECT (SELECT COUNT(*) FROM visits WHERE urgent) / (SELECT COUNT(*) FROM visits) AS share;
-- refused
-- wards chosen by their mean
SELECT * FROM (SELECT ward, AVG(cost) AS mean FROM visits GROUP BY ward) AS w WHERE mean > 500;
-- refused
