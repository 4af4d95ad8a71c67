-- Visits to a hospital, with public wards.

-- visits by ward
SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward;
-- patients by ward
SELECT ward, COUNT(DISTINCT patient_id) AS patients FROM visits GROUP BY ward;
-- cost by ward
SELECT ward, SUM(cost) AS total, AVG(cost) AS mean FROM visits GROUP BY ward ORDER BY total DESC;
-- cost in thousands
SELECT SUM(cost / 1000) AS thousands FROM visits;
-- urgent visits
SELECT COUNT(*) AS n FROM visits WHERE urgent;
-- not urgent or unknown
SELECT COUNT(*) AS n FROM visits WHERE urgent IS NOT TRUE;
-- missing values
SELECT COUNT(*) - COUNT(cost) AS missing FROM visits;
-- missing values by condition
SELECT COUNT(*) AS n FROM visits WHERE diagnosis IS NULL;
-- filled in
SELECT AVG(COALESCE(cost, 0)) AS mean FROM visits;
-- group by a condition
SELECT age >= 65 AS old, COUNT(*) AS n FROM visits GROUP BY old;
-- bins of width 20
SELECT FLOOR(age / 20) * 20 AS bin, COUNT(*) AS n FROM visits GROUP BY bin ORDER BY bin;
-- diagnosis, lower case
SELECT LOWER(TRIM(diagnosis)) AS d, COUNT(*) AS n FROM visits GROUP BY d HAVING COUNT(*) >= 20 ORDER BY n DESC;
-- search in text
SELECT COUNT(*) AS n FROM visits WHERE diagnosis ILIKE '%flu%';
-- starts with
SELECT COUNT(*) AS n FROM visits WHERE STARTS_WITH(diagnosis, 'a') OR diagnosis LIKE 'f%';
-- concatenated key
SELECT CONCAT(ward, '-', CAST(urgent AS VARCHAR)) AS both_keys, COUNT(*) AS n FROM visits GROUP BY 1;
-- length of stay
SELECT ward, AVG(CLAMP(discharged - admitted, 0, 30)) AS days FROM visits GROUP BY ward;
-- plain: SELECT ward, AVG(discharged - admitted) AS days FROM visits GROUP BY ward
-- admissions by week
SELECT DATE_TRUNC('week', admitted) AS week, COUNT(*) AS n FROM visits GROUP BY week ORDER BY week;
-- admissions in a range of dates
SELECT COUNT(*) AS n FROM visits WHERE admitted BETWEEN DATE '2024-03-01' AND DATE '2024-05-31';
-- by year and month
SELECT YEAR(admitted) AS y, MONTH(admitted) AS m, COUNT(*) AS n FROM visits GROUP BY y, m ORDER BY y, m;
-- by building
SELECT building, COUNT(*) AS n, SUM(cost) AS total FROM visits JOIN wards USING (ward) GROUP BY building;
-- total of each patient
SELECT AVG(total) AS mean FROM (SELECT patient_id, SUM(cost) AS total FROM visits GROUP BY patient_id);
-- patients with several visits
SELECT COUNT(*) AS patients FROM (SELECT patient_id FROM visits GROUP BY patient_id HAVING COUNT(*) > 1);
-- readmission share
WITH each AS (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) SELECT 1.0 * COUNT_IF(n > 1) / COUNT(*) AS share FROM each;
-- first visit of each patient
SELECT DATE_TRUNC('month', first) AS month, COUNT(*) AS patients FROM (SELECT patient_id, MIN(admitted) AS first FROM visits GROUP BY patient_id) GROUP BY month;
-- patients of two wards
SELECT COUNT(*) AS patients FROM (SELECT patient_id, COUNT(DISTINCT ward) AS wards FROM visits GROUP BY patient_id) AS p WHERE wards >= 2;
-- costs of patients who were ever urgent
SELECT SUM(cost) AS total FROM visits WHERE patient_id IN (SELECT patient_id FROM visits WHERE urgent);
-- visits of patients without surgery
SELECT COUNT(*) AS n FROM visits v WHERE NOT EXISTS (SELECT * FROM visits s WHERE s.patient_id = v.patient_id AND s.ward = 'surgery');
-- wards of a public list
SELECT COUNT(*) AS n FROM visits WHERE ward IN (SELECT ward FROM wards WHERE building = 'east');
-- exists in a public list
SELECT COUNT(*) AS n FROM visits v WHERE EXISTS (SELECT 1 FROM wards w WHERE w.ward = v.ward AND w.floor > 1);
-- variance of costs
SELECT ward, VAR_POP(cost) AS v, STDDEV_POP(cost) AS s FROM visits GROUP BY ward;
-- several statistics at once
SELECT COUNT(*) AS n, COUNT(DISTINCT patient_id) AS patients, SUM(cost) AS total, AVG(age) AS age, STDDEV(age) AS spread FROM visits;
-- ratio of two conditions
SELECT ward, COUNT_IF(urgent) / NULLIF(COUNT(*), 0) AS share FROM visits GROUP BY ward;
-- odds
SELECT COUNT_IF(urgent) / (COUNT(*) - COUNT_IF(urgent)) AS odds FROM visits;
-- lower and upper limits
SELECT LEAST(AVG(cost), 500) AS limited, GREATEST(AVG(cost), 100) AS raised FROM visits;
-- index from an aggregate
SELECT ward, IF(AVG(cost) > 400, 2, 1) AS level FROM visits GROUP BY ward;
-- a flag from two aggregates
SELECT CASE WHEN SUM(cost) > 1000 AND COUNT(*) > 10 THEN 1 ELSE 0 END AS flag FROM visits;
-- order by an aggregate that is not shown
SELECT ward FROM visits GROUP BY ward ORDER BY COUNT(*) DESC LIMIT 2;
-- refused
-- mode
SELECT MODE(diagnosis) AS most FROM visits;
-- refused
-- list of values
SELECT ward, STRING_AGG(diagnosis, ',') AS all_of_them FROM visits GROUP BY ward;
-- refused
-- today
SELECT COUNT(*) AS n FROM visits WHERE admitted > CURRENT_DATE - 30;
-- refused
-- update
UPDATE visits SET cost = 0;
-- refused
-- function of the user's own
SELECT my_score(cost) AS s, COUNT(*) AS n FROM visits GROUP BY s;
-- refused
