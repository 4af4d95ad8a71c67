-- Events on a web site, with public pages.

-- page views
SELECT page, COUNT(*) AS views FROM events WHERE event = 'view' GROUP BY page ORDER BY views DESC;
-- visitors
SELECT page, COUNT(DISTINCT user_id) AS visitors FROM events GROUP BY page;
-- approximate visitors
SELECT APPROX_COUNT_DISTINCT(user_id) AS visitors FROM events;
-- plain: SELECT COUNT(DISTINCT user_id) AS visitors FROM events
-- daily visitors
SELECT CAST(happened AS DATE) AS day, COUNT(DISTINCT user_id) AS visitors FROM events GROUP BY 1 ORDER BY 1;
-- hourly views
SELECT DATE_TRUNC('hour', happened) AS hour, COUNT(*) AS n FROM events WHERE happened < TIMESTAMP '2024-01-02' GROUP BY hour;
-- conversion
SELECT COUNT_IF(event = 'buy') * 1.0 / COUNT_IF(event = 'view') AS conversion FROM events;
-- conversion of people
SELECT COUNT(DISTINCT CASE WHEN event = 'buy' THEN user_id END) AS buyers, COUNT(DISTINCT user_id) AS visitors FROM events;
-- conversion by device
SELECT device, 100.0 * SUM(CASE WHEN event = 'buy' THEN 1 ELSE 0 END) / COUNT(*) AS percent FROM events GROUP BY device;
-- revenue
SELECT country, SUM(revenue) AS revenue FROM events WHERE event = 'buy' GROUP BY country;
-- revenue of each buyer
SELECT SUM(revenue) / COUNT(DISTINCT user_id) AS each FROM events WHERE event = 'buy';
-- revenue by section
SELECT section, SUM(revenue) AS revenue FROM events e JOIN pages p ON e.page = p.page GROUP BY section;
-- referrer, with a name for missing ones
SELECT COALESCE(referrer, 'direct') AS source, COUNT(*) AS n FROM events GROUP BY source;
-- referrer domain
SELECT CASE WHEN referrer LIKE '%search%' THEN 'search' WHEN referrer IS NULL THEN 'direct' ELSE 'other' END AS source, COUNT(*) AS n FROM events GROUP BY source;
-- regular expression on a path
SELECT COUNT(*) AS n FROM events WHERE REGEXP_MATCHES(page, '^/shop/[a-z]+$');
-- replaced text
SELECT REPLACE(page, '/shop/', '/') AS path, COUNT(*) AS n FROM events GROUP BY path;
-- median duration
SELECT device, MEDIAN(seconds) AS seconds FROM events GROUP BY device;
-- within: 12
-- long visits
SELECT COUNT(*) AS n FROM events WHERE seconds > 60 AND NOT (device = 'phone');
-- bounce
SELECT COUNT(*) AS single FROM (SELECT user_id, COUNT(*) AS n FROM events GROUP BY user_id HAVING COUNT(*) = 1) AS u;
-- events per person
SELECT n, COUNT(*) AS users FROM (SELECT user_id, COUNT(*) AS n FROM events GROUP BY user_id) AS u GROUP BY n ORDER BY n;
-- buyers' views
SELECT COUNT(*) AS views FROM events WHERE event = 'view' AND user_id IN (SELECT user_id FROM events WHERE event = 'buy');
-- visitors who never bought
SELECT COUNT(DISTINCT user_id) AS users FROM events WHERE user_id NOT IN (SELECT user_id FROM events WHERE event = 'buy');
-- funnel
SELECT COUNT_IF(viewed > 0) AS viewers, COUNT_IF(viewed > 0 AND bought > 0) AS buyers FROM (SELECT user_id, SUM(CASE WHEN event = 'view' THEN 1 ELSE 0 END) AS viewed, SUM(CASE WHEN event = 'buy' THEN 1 ELSE 0 END) AS bought FROM events GROUP BY user_id);
-- devices per person
SELECT AVG(devices) AS devices FROM (SELECT user_id, COUNT(DISTINCT device) AS devices FROM events GROUP BY user_id) AS d;
-- combined key
SELECT device, event, COUNT(*) AS n FROM events GROUP BY device, event;
-- concatenated keys
SELECT device || '/' || event AS both_keys, COUNT(*) AS n FROM events GROUP BY both_keys;
-- any of several countries
SELECT COUNT(*) AS n FROM events WHERE country IN ('FR', 'EG') OR country IS NULL;
-- first day of each person
SELECT CAST(first AS DATE) AS day, COUNT(*) AS users FROM (SELECT user_id, MIN(happened) AS first FROM events GROUP BY user_id) GROUP BY day;
-- weekly revenue and its growth
SELECT DATE_TRUNC('week', happened) AS week, SUM(revenue) AS revenue FROM events GROUP BY week ORDER BY week;
-- seconds per event, in minutes
SELECT event, ROUND(SUM(seconds) / 60.0 / COUNT(*), 3) AS minutes FROM events GROUP BY event;
-- deviation as a share of the mean
SELECT STDDEV(seconds) / AVG(seconds) AS relative FROM events;
-- top pages by people
SELECT page FROM events GROUP BY page ORDER BY page;
-- share of returning people
WITH days AS (SELECT user_id, COUNT(DISTINCT CAST(happened AS DATE)) AS d FROM events GROUP BY user_id) SELECT AVG(CASE WHEN d > 1 THEN 1 ELSE 0 END) AS returning_share FROM days;
-- sessions by a window
SELECT COUNT(*) AS sessions FROM (SELECT user_id, happened, LAG(happened) OVER (PARTITION BY user_id ORDER BY happened) AS before FROM events) AS s;
-- refused
-- last event of each person
SELECT DISTINCT ON (user_id) user_id, page FROM events ORDER BY user_id, happened DESC;
-- refused
-- array of pages
SELECT user_id, ARRAY_AGG(page) AS path FROM events GROUP BY user_id;
-- refused
