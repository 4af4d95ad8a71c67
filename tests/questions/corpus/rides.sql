-- Taxi rides of people, with public zones.

-- rides and people
SELECT COUNT(*) AS rides, COUNT(DISTINCT rider) AS riders FROM rides;
-- mean fare by payment
SELECT payment, AVG(fare) AS fare FROM rides GROUP BY payment;
-- fare and tip together
SELECT SUM(fare + tip) AS paid FROM rides;
-- tip as a share
SELECT payment, SUM(tip) / SUM(fare) AS rate FROM rides GROUP BY payment;
-- mean of a quotient
SELECT AVG(CLAMP(tip / fare, 0, 1)) AS rate FROM rides WHERE fare > 0;
-- plain: SELECT AVG(tip / fare) AS rate FROM rides WHERE fare > 0
-- by hour of the day
SELECT EXTRACT(HOUR FROM picked_up) AS hour, COUNT(*) AS n FROM rides GROUP BY hour ORDER BY hour;
-- by day of the week
SELECT DAYOFWEEK(picked_up) AS day, COUNT(*) AS n, AVG(distance) AS distance FROM rides GROUP BY day;
-- weekends
SELECT CASE WHEN EXTRACT(DOW FROM picked_up) IN (0, 6) THEN 'weekend' ELSE 'week' END AS part, COUNT(*) AS n FROM rides GROUP BY part;
-- by date of a time
SELECT CAST(picked_up AS DATE) AS day, COUNT(*) AS n FROM rides GROUP BY day ORDER BY day LIMIT 10;
-- date function
SELECT DATE(picked_up) AS day, SUM(fare) AS fares FROM rides GROUP BY 1 ORDER BY 1;
-- by month with a name
SELECT MONTH(picked_up) AS month, COUNT(*) AS n FROM rides GROUP BY month;
-- minutes
SELECT AVG(CLAMP(DATE_DIFF('minute', picked_up, dropped_off), 0, 120)) AS minutes FROM rides;
-- plain: SELECT AVG(DATE_DIFF('minute', picked_up, dropped_off)) AS minutes FROM rides
-- speed
SELECT AVG(CLAMP(distance * 60.0 / NULLIF(DATE_DIFF('minute', picked_up, dropped_off), 0), 0, 400)) AS speed FROM rides;
-- plain: SELECT AVG(distance * 60.0 / NULLIF(DATE_DIFF('minute', picked_up, dropped_off), 0)) AS speed FROM rides
-- between two dates
SELECT COUNT(*) AS n FROM rides WHERE picked_up BETWEEN '2024-02-01' AND '2024-02-29 23:59:59';
-- from a time on
SELECT COUNT(*) AS n FROM rides WHERE picked_up >= TIMESTAMP '2024-03-01 12:00:00';
-- by borough
SELECT borough, COUNT(*) AS n, AVG(fare) AS fare FROM rides JOIN zones ON rides.zone = zones.zone GROUP BY borough;
-- by borough with a condition
SELECT borough, SUM(fare) AS fares FROM rides r INNER JOIN zones z ON r.zone = z.zone WHERE r.passengers > 1 GROUP BY borough HAVING SUM(fare) > 100;
-- distance bands
SELECT FLOOR(distance / 5) AS band, COUNT(*) AS n FROM rides GROUP BY band ORDER BY band;
-- histogram
SELECT HISTOGRAM(distance, [0, 5, 10, 30]) AS cells FROM rides;
-- plain: SELECT COUNT(*) FILTER (WHERE distance < 5) AS cells_0_5, COUNT(*) FILTER (WHERE distance >= 5 AND distance < 10) AS cells_5_10, COUNT(*) FILTER (WHERE distance >= 10) AS cells_10_30 FROM rides
-- median fare by payment
SELECT payment, MEDIAN(fare) AS fare FROM rides GROUP BY payment;
-- within: 5
-- high quantile
SELECT QUANTILE_CONT(fare, 0.9) AS high FROM rides;
-- within: 5
-- approximate quantiles
SELECT APPROX_QUANTILES(distance, 2) AS q FROM rides;
-- plain: SELECT MIN(distance) AS q_0, MEDIAN(distance) AS q_1, MAX(distance) AS q_2 FROM rides
-- within: 4
-- extremes
SELECT MIN(fare) AS least, MAX(fare) AS most FROM rides;
-- within: 6
-- deviation
SELECT payment, STDDEV(fare) AS deviation FROM rides GROUP BY payment;
-- cents
SELECT SUM(CAST(ROUND(fare * 100) AS BIGINT)) AS cents FROM rides;
-- rides per person
SELECT AVG(n) AS mean_rides FROM (SELECT rider, COUNT(*) AS n FROM rides GROUP BY rider);
-- frequent riders
SELECT COUNT(*) AS riders FROM (SELECT rider, COUNT(*) AS n FROM rides GROUP BY rider) AS t WHERE n >= 3;
-- longest ride of each person
SELECT AVG(longest) AS longest FROM (SELECT rider, MAX(distance) AS longest FROM rides GROUP BY rider);
-- people by number of days
SELECT days, COUNT(*) AS riders FROM (SELECT rider, COUNT(DISTINCT CAST(picked_up AS DATE)) AS days FROM rides GROUP BY rider) GROUP BY days;
-- riders who paid both ways
SELECT COUNT(DISTINCT rider) AS riders FROM rides WHERE rider IN (SELECT rider FROM rides WHERE payment = 'cash') AND rider IN (SELECT rider FROM rides WHERE payment = 'card');
-- BigQuery: count with options
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1e5, delta = 1e-3, max_groups_contributed = 40, privacy_unit_column = rider) payment, COUNT(*) AS n FROM rides GROUP BY payment;
-- plain: SELECT payment, COUNT(*) AS n FROM rides GROUP BY payment
-- BigQuery: bounds in the call
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1e5, delta = 1e-3, privacy_unit_column = rider) payment, SUM(fare, contribution_bounds_per_group => (0, 4000)) AS fares FROM rides GROUP BY payment;
-- plain: SELECT payment, SUM(fare) AS fares FROM rides GROUP BY payment
-- BigQuery: mean of clamped values
SELECT WITH ANONYMIZATION OPTIONS(epsilon = 1e5, delta = 1e-3) payment, ANON_AVG(fare CLAMPED BETWEEN 0 AND 100) AS fare FROM rides GROUP BY payment;
-- plain: SELECT payment, AVG(fare) AS fare FROM rides GROUP BY payment
-- BigQuery: percentile
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1e5, delta = 1e-3, privacy_unit_column = rider) PERCENTILE_CONT(fare, 0.5, contribution_bounds_per_row => (0, 100)) AS middle FROM rides;
-- plain: SELECT MEDIAN(fare) AS middle FROM rides
-- within: 5
-- BigQuery: another unit
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1, delta = 1e-3, privacy_unit_column = zone) COUNT(*) AS n FROM rides;
-- refused
-- union of parts
SELECT kind, COUNT(*) AS n FROM (SELECT 'short' AS kind FROM rides WHERE distance < 5 UNION ALL SELECT 'long' AS kind FROM rides WHERE distance >= 5) AS u GROUP BY kind;
-- cross join
SELECT COUNT(*) AS n FROM rides CROSS JOIN zones WHERE rides.zone = zones.zone AND borough = 'North';
-- ranking
SELECT zone, RANK() OVER (ORDER BY COUNT(*) DESC) AS place FROM rides GROUP BY zone;
-- time between rides
SELECT AVG(DATE_DIFF('minute', LAG(picked_up) OVER (PARTITION BY rider ORDER BY picked_up), picked_up)) AS pause FROM rides;
-- refused
-- grouping sets
SELECT payment, passengers, COUNT(*) AS n FROM rides GROUP BY GROUPING SETS ((payment), (passengers));
