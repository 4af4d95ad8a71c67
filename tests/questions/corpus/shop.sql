-- Order lines of customers, with public parts, suppliers and nations.

-- pricing summary
SELECT returned, status, SUM(quantity) AS quantity, SUM(price) AS gross, SUM(price * (1 - discount)) AS net, SUM(price * (1 - discount) * (1 + tax)) AS charged, AVG(quantity) AS mean_quantity, AVG(price) AS mean_price, AVG(discount) AS mean_discount, COUNT(*) AS n FROM lines WHERE shipped <= DATE '2024-12-01' - INTERVAL '90' DAY GROUP BY returned, status ORDER BY returned, status;
-- forecast of revenue
SELECT SUM(price * discount) AS revenue FROM lines WHERE shipped >= DATE '2024-03-01' AND shipped < DATE '2024-03-01' + INTERVAL '6' MONTH AND discount BETWEEN 0.02 AND 0.06 AND quantity < 24;
-- urgent lines by mode
SELECT mode, SUM(CASE WHEN priority = 'urgent' OR priority = 'high' THEN 1 ELSE 0 END) AS urgent, SUM(CASE WHEN priority <> 'urgent' AND priority <> 'high' THEN 1 ELSE 0 END) AS others FROM lines WHERE mode IN ('air', 'ship') AND received < shipped + 40 GROUP BY mode ORDER BY mode;
-- late deliveries by priority
SELECT priority, COUNT(*) AS late FROM lines WHERE received > promised GROUP BY priority ORDER BY priority;
-- share of revenue of a kind of part
SELECT 100.00 * SUM(CASE WHEN type LIKE 'PROMO%' THEN price * (1 - discount) ELSE 0 END) / SUM(price * (1 - discount)) AS promo FROM lines, parts WHERE lines.part_id = parts.part_id AND shipped >= DATE '2024-02-01';
-- revenue by nation of the supplier
SELECT nation, SUM(price * (1 - discount)) AS revenue FROM lines JOIN suppliers ON lines.supplier_id = suppliers.supplier_id GROUP BY nation ORDER BY revenue DESC;
-- revenue by region, two public tables
SELECT region, SUM(price) AS revenue FROM lines JOIN suppliers USING (supplier_id) JOIN nations USING (nation) GROUP BY region;
-- the same with commas
SELECT n.region, SUM(l.price) AS revenue FROM lines l, suppliers s, nations n WHERE l.supplier_id = s.supplier_id AND s.nation = n.nation GROUP BY n.region;
-- profit by nation and year
SELECT nation, EXTRACT(YEAR FROM shipped) AS year, SUM(price * (1 - discount) - 2 * quantity) AS profit FROM lines JOIN suppliers USING (supplier_id) GROUP BY nation, year ORDER BY nation, year DESC;
-- market share by year
SELECT EXTRACT(YEAR FROM shipped) AS year, SUM(CASE WHEN nation = 'Chad' THEN price ELSE 0 END) / SUM(price) AS share FROM lines JOIN suppliers USING (supplier_id) GROUP BY year;
-- disjunction of kinds of parts
SELECT SUM(price * (1 - discount)) AS revenue FROM lines JOIN parts USING (part_id) WHERE (brand = 'B1' AND quantity BETWEEN 1 AND 11 AND size <= 5) OR (brand = 'B2' AND quantity BETWEEN 10 AND 20 AND size <= 10);
-- distribution of lines per customer
SELECT many, COUNT(*) AS customers FROM (SELECT customer_id, COUNT(*) AS many FROM lines GROUP BY customer_id) AS c GROUP BY many ORDER BY many;
-- plain: SELECT many, COUNT(*) AS customers FROM (SELECT customer_id, COUNT(*) AS many FROM lines GROUP BY customer_id) AS c GROUP BY many ORDER BY many
-- large customers
SELECT COUNT(*) AS large FROM (SELECT customer_id, SUM(quantity) AS total FROM lines GROUP BY customer_id HAVING SUM(quantity) > 60) AS c;
-- mean total of a customer
SELECT AVG(total) AS mean_total FROM (SELECT customer_id, SUM(price) AS total FROM lines GROUP BY customer_id) AS c;
-- totals in a WITH
WITH totals AS (SELECT customer_id, SUM(price) AS total, COUNT(*) AS n FROM lines GROUP BY customer_id) SELECT COUNT(*) AS customers, AVG(total) AS mean_total FROM totals WHERE n > 2;
-- customers with a returned line
SELECT COUNT(DISTINCT customer_id) AS customers FROM lines WHERE returned = 'R';
-- lines of customers who returned something
SELECT COUNT(*) AS n, SUM(price) AS revenue FROM lines WHERE customer_id IN (SELECT customer_id FROM lines WHERE returned = 'R');
-- customers who never returned anything
SELECT COUNT(DISTINCT customer_id) AS customers FROM lines WHERE customer_id NOT IN (SELECT customer_id FROM lines WHERE returned = 'R');
-- the same with EXISTS
SELECT priority, COUNT(*) AS n FROM lines l WHERE EXISTS (SELECT 1 FROM lines m WHERE m.customer_id = l.customer_id AND m.received > m.promised) GROUP BY priority ORDER BY priority;
-- parts of a public list
SELECT COUNT(*) AS n FROM lines WHERE part_id IN (SELECT part_id FROM parts WHERE brand = 'B1');
-- everything but a public list
SELECT SUM(quantity) AS quantity FROM lines WHERE supplier_id NOT IN (SELECT supplier_id FROM suppliers WHERE nation = 'Chad');
-- customers with a large order
SELECT SUM(quantity) AS quantity FROM lines WHERE customer_id IN (SELECT customer_id FROM lines GROUP BY customer_id HAVING SUM(quantity) > 60);
-- months
SELECT DATE_TRUNC('month', shipped) AS month, SUM(price) AS revenue, COUNT(DISTINCT customer_id) AS customers FROM lines GROUP BY month ORDER BY month;
-- quarters
SELECT EXTRACT(QUARTER FROM shipped) AS quarter, COUNT(*) AS n FROM lines GROUP BY 1;
-- days under way
SELECT mode, AVG(received - shipped) AS days FROM lines GROUP BY mode;
-- days under way, by function
SELECT AVG(CLAMP(DATE_DIFF('day', shipped, received), 0, 40)) AS days FROM lines;
-- plain: SELECT AVG(DATE_DIFF('day', shipped, received)) AS days FROM lines
-- revenue without tax, clamped
SELECT SUM(CLAMP(price * quantity, 0, 5000)) AS total FROM lines;
-- plain: SELECT SUM(price * quantity) AS total FROM lines
-- most frequent modes
SELECT mode, COUNT(*) AS n FROM lines GROUP BY mode ORDER BY n DESC LIMIT 2;
-- not like
SELECT COUNT(*) AS n FROM lines JOIN parts USING (part_id) WHERE type NOT LIKE '%STEEL' AND size IN (1, 3, 5);
-- regular expression
SELECT COUNT(*) AS n FROM lines JOIN parts USING (part_id) WHERE REGEXP_MATCHES(type, '^(PROMO|SMALL) .*TIN$');
-- similar to
SELECT COUNT(*) AS n FROM lines WHERE mode SIMILAR TO '(air|ship)';
-- left join with missing matches
SELECT COALESCE(brand, 'none') AS brand, COUNT(*) AS n FROM lines LEFT JOIN parts ON lines.part_id = parts.part_id GROUP BY 1;
-- cheapest supplier, correlated
SELECT COUNT(*) AS n FROM lines WHERE price = (SELECT MIN(price) FROM lines);
-- refused
-- below a fifth of the mean quantity, correlated
SELECT SUM(price) / 7.0 AS yearly FROM lines l WHERE quantity < (SELECT 0.2 * AVG(quantity) FROM lines m WHERE m.part_id = l.part_id);
-- refused
-- pairs of lines
SELECT COUNT(*) AS pairs FROM lines a JOIN lines b ON a.part_id = b.part_id AND a.customer_id < b.customer_id;
-- refused
-- share of a total by a window
SELECT mode, SUM(price) / SUM(SUM(price)) OVER () AS share FROM lines GROUP BY mode;
