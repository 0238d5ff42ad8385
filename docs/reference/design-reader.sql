-- A reader of design documents in plain SQL (SQLite 3.38 or later).
--
-- Before:  a table document(body) with one row, the text of the JSON document, and a table sample(code).
-- After:   a table report(part, code, j, probability, mu): the probability of each code given that the value is
--          category number j, counted from 0, and its weight. The whole document is the part '0'. What cannot be
--          reported has no row. Then counted(code, n), gamma(j, value), Q(i, j, value) and estimate(j, w).
--
-- Part 1 reads the document, part 2 the kinds that stand alone. Part 3 puts parts together: run it for each depth,
-- with the deepest first, where a table level(depth) says which is due. Part 4 counts the sample. Part 5 solves the
-- equations of the moment estimate: run it for each category, where a table step(k) says which is due.

-- PART 1: what the document holds -----------------------------------------------------------------

CREATE TABLE number (value INTEGER PRIMARY KEY);
INSERT INTO number
WITH RECURSIVE n(value) AS (SELECT 0 UNION ALL SELECT value + 1 FROM n WHERE value < 4095)
SELECT value FROM n;

CREATE TABLE variable AS
SELECT key AS place, json_array_length(value, '$.categories') AS size FROM document, json_each(body, '$.variables')
UNION ALL
SELECT 0, json_array_length(body, '$.categories') FROM document WHERE json_type(body, '$.categories') = 'array';

-- How many combinations consecutive variables have.
CREATE TABLE span AS
WITH RECURSIVE s(first, many, p) AS (
    SELECT place, 1, size FROM variable
    UNION ALL
    SELECT first, many + 1, p * size FROM s JOIN variable ON place = first + many
)
SELECT first, many, p FROM s;

-- The document and the designs inside it, each with the variables that it is about.
CREATE TABLE part AS
WITH RECURSIVE t(part, parent, place, depth, first, many, body) AS (
    SELECT '0', NULL, 0, 0, 0, (SELECT count(*) FROM variable), body FROM document
    UNION ALL
    SELECT
        t.part || '.' || inner.key, t.part, inner.key, t.depth + 1,
        t.first + CASE json_extract(t.body, '$.kind') WHEN 'product' THEN (
            SELECT coalesce(sum(json_extract(before.value, '$.variables')), 0)
            FROM json_each(t.body, '$.factors') AS before WHERE before.key < inner.key
        ) ELSE 0 END,
        coalesce(json_extract(inner.value, '$.variables'), t.many),
        inner.value
    FROM t, json_each(CASE json_extract(t.body, '$.kind')
        WHEN 'mixture' THEN json_extract(t.body, '$.components')
        WHEN 'product' THEN json_extract(t.body, '$.factors')
        WHEN 'covered' THEN json_array(json_extract(t.body, '$.base'))
        ELSE '[]'
    END) AS inner
)
SELECT t.part, t.parent, t.place, t.depth, json_extract(t.body, '$.kind') AS kind, span.p AS p, t.body,
    -- Of two groups either tells the other, so that codes are masks.
    coalesce(json_extract(t.body, '$.recorded') AND json_array_length(t.body, '$.partitions[0]') > 2, 0) AS recorded
FROM t JOIN span ON span.first = t.first AND span.many = t.many;

-- Binomial coefficients C(n, k).
CREATE TABLE choose AS
WITH RECURSIVE c(n, k, ways) AS (
    SELECT value, 0, 1 FROM number WHERE value <= 48
    UNION ALL
    SELECT n, k + 1, ways * (n - k) / (k + 1) FROM c WHERE k < n
)
SELECT n, k, ways FROM c;

-- All subsets of p categories as codes, for the kinds that do not list theirs.
CREATE TABLE subset AS
WITH RECURSIVE
    wanted(p) AS (
        SELECT p FROM part WHERE kind IN ('uniform', 'fixed_size', 'partition', 'singles') AND p <= 16
        UNION
        SELECT 2 * p FROM part WHERE kind = 'artificial_bit'
    ),
    s(p, code) AS (SELECT p, 1 FROM wanted UNION ALL SELECT p, code + 1 FROM s WHERE code + 1 < 1 << p)
SELECT p, code, (SELECT sum(s.code >> value & 1) FROM number WHERE value < s.p) AS size FROM s;

-- PART 2: kinds that stand alone ------------------------------------------------------------------

-- mu of each subset, for the kinds whose codes are subsets of the categories.
CREATE TABLE weight AS
SELECT part, code, 1.0 / ((1 << (p - 1)) - p - 1) AS mu
FROM part JOIN subset USING (p) WHERE kind = 'uniform' AND size BETWEEN 2 AND p - 2
UNION ALL
SELECT part, code, 1.0 / ways
FROM part JOIN subset USING (p) JOIN choose ON n = p - 1 AND k = size - 1
WHERE kind = 'fixed_size' AND size = json_extract(body, '$.size')
UNION ALL
SELECT part, code, 1.0 / p + (CASE p WHEN 2 THEN 1.0 / p ELSE 0 END)
FROM part JOIN subset USING (p) WHERE kind = 'singles' AND size IN (1, p - 1)
UNION ALL
SELECT part, 1 << value, 1.0 FROM part JOIN number ON value < p WHERE kind = 'nonprivate'
UNION ALL
SELECT part, (1 << p) - 1, 1.0 FROM part WHERE kind = 'fully_private'
UNION ALL
SELECT part, json_extract(value, '$[0]'), CAST(json_extract(value, '$[1]') AS REAL)
FROM part, json_each(body, '$.subsets') WHERE kind = 'conditional'
UNION ALL
SELECT part, code, sum(nu) FROM (
    SELECT part, json_extract(value, '$[0]') AS code, CAST(json_extract(value, '$[1]') AS REAL) AS nu
    FROM part, json_each(body, '$.questions') WHERE kind = 'independent'
    UNION ALL
    SELECT part, (1 << p) - 1 - json_extract(value, '$[0]'), CAST(json_extract(value, '$[1]') AS REAL)
    FROM part, json_each(body, '$.questions') WHERE kind = 'independent'
) WHERE code > 0 GROUP BY part, code
UNION ALL
-- All partitions into m even groups: p % m groups have one member more than the others.
SELECT part, code, (CASE WHEN size = p / m THEN m - p % m ELSE p % m END) * 1.0 / ways
FROM (SELECT *, json_extract(body, '$.groups') AS m FROM part WHERE kind = 'partition')
JOIN subset USING (p) JOIN choose ON n = p AND k = size
WHERE json_type(body, '$.partitions') IS NULL AND (size = p / m OR (size = p / m + 1 AND p % m > 0))
UNION ALL
-- Listed partitions of which the code does not tell which was asked.
SELECT part, one.value, count(*) * 1.0 / json_array_length(body, '$.partitions')
FROM part, json_each(body, '$.partitions') AS listed, json_each(listed.value) AS one
WHERE kind = 'partition' AND NOT recorded GROUP BY part, one.value;

CREATE TABLE report AS
SELECT part, code, value AS j, mu AS probability, mu
FROM weight JOIN part USING (part) JOIN number ON value < p WHERE mu > 0 AND code >> value & 1
UNION ALL
-- Recorded partitions: code m (number of the partition + 1) + number of the group.
SELECT part, json_array_length(listed.value) * (listed.key + 1) + one.key, number.value,
    1.0 / json_array_length(body, '$.partitions'), 1.0 / json_array_length(body, '$.partitions')
FROM part, json_each(body, '$.partitions') AS listed, json_each(listed.value) AS one
JOIN number ON number.value < p
WHERE kind = 'partition' AND recorded AND one.value >> number.value & 1
UNION ALL
-- A value next to a bit: subsets of pairs (category, bit), pair 2 j + bit; mu is 1 for the two answers to "equal?".
SELECT part, code, value, mu * ((1 - q) * (code >> 2 * value & 1) + q * (code >> (2 * value + 1) & 1)), mu
FROM (
    SELECT part, part.p, code, CAST(json_extract(body, '$.q') AS REAL) AS q,
        CASE json_extract(body, '$.asked') WHEN 'equal' THEN 1.0 ELSE 1.0 / ((1 << (2 * part.p - 1)) - 2 * part.p - 1)
        END AS mu
    FROM part JOIN subset ON subset.p = 2 * part.p
    WHERE kind = 'artificial_bit' AND CASE json_extract(body, '$.asked')
        WHEN 'equal' THEN code IN (6, 9) ELSE size BETWEEN 2 AND 2 * part.p - 2 END
) JOIN number ON value < p
WHERE (code >> 2 * value & 1) OR (code >> (2 * value + 1) & 1);

-- Rows 1 to N - 1 of a Hadamard matrix; side 1 are the categories whose column has an even number of ones in common.
CREATE TABLE answer AS
SELECT part, p, N, r, j, (SELECT (1 + sum((r & c) >> value & 1)) % 2 FROM number WHERE value < 24) AS side
FROM (
    SELECT part, p, json_extract(body, '$.size') AS N, number.value AS r, own.key AS j, own.value AS c
    FROM part, json_each(body, '$.columns') AS own
    JOIN number ON number.value BETWEEN 1 AND json_extract(body, '$.size') - 1 WHERE kind = 'hadamard'
);
CREATE INDEX reports ON report (part, code, j);
CREATE INDEX answers ON answer (part, r, side);
INSERT INTO report
SELECT part, code, j, count(*) * 1.0 / N, count(*) * 1.0 / N FROM (
    SELECT part, j, N - 1 AS N, CASE WHEN p > 48 THEN 2 * r + side ELSE (
        SELECT sum(1 << other.j) FROM answer AS other
        WHERE other.part = answer.part AND other.r = answer.r AND other.side = answer.side
    ) END AS code
    FROM answer
) GROUP BY part, code, j;

-- How many bits a code takes, which tells the place of the next one.
CREATE TABLE width AS
SELECT part, CASE
    WHEN kind = 'hadamard' AND p > 48
    THEN (SELECT min(value) FROM number WHERE json_extract(body, '$.size') >> value = 0)
    WHEN recorded
    THEN (SELECT min(value) FROM number
          WHERE json_extract(body, '$.groups') * (json_array_length(body, '$.partitions') + 1) >> value = 0)
    WHEN kind = 'artificial_bit' THEN 2 * p
    ELSE p
END AS bits
FROM part WHERE kind NOT IN ('mixture', 'product', 'covered');

-- Which codes say nothing: those with this number in any of these places.
CREATE TABLE silent AS
SELECT part, 0 AS shift, bits, CASE
    WHEN recorded OR (kind = 'hadamard' AND p > 48) THEN 1
    ELSE (1 << bits) - 1
END AS code
FROM width JOIN part USING (part);

-- PART 3: designs made of others, one depth at a time -------------------------------------------

INSERT INTO report
SELECT whole.part, code, j,
    sum(probability * CAST(json_extract(inner.body, '$.share') AS REAL)) / (
        SELECT sum(CAST(json_extract(value, '$.share') AS REAL)) FROM json_each(whole.body, '$.components')
    ),
    sum(mu * CAST(json_extract(inner.body, '$.share') AS REAL)) / (
        SELECT sum(CAST(json_extract(value, '$.share') AS REAL)) FROM json_each(whole.body, '$.components')
    )
FROM part AS whole JOIN part AS inner ON inner.parent = whole.part JOIN report ON report.part = inner.part
WHERE whole.kind = 'mixture' AND whole.depth = (SELECT depth FROM level)
GROUP BY whole.part, code, j;

-- Factors side by side, the first in the highest bits; of the categories' numbers the last factor's runs fastest.
INSERT INTO report
WITH RECURSIVE f(part, place, code, j, probability, mu) AS (
    SELECT whole.part, 0, code, j, probability, mu
    FROM part AS whole JOIN part AS inner ON inner.parent = whole.part AND inner.place = 0
    JOIN report ON report.part = inner.part
    WHERE whole.kind = 'product' AND whole.depth = (SELECT depth FROM level)
    UNION ALL
    SELECT f.part, inner.place, (f.code << bits) | report.code, f.j * inner.p + report.j,
        f.probability * report.probability, f.mu * report.mu
    FROM f JOIN part AS inner ON inner.parent = f.part AND inner.place = f.place + 1
    JOIN report ON report.part = inner.part JOIN width ON width.part = inner.part
)
SELECT part, code, j, probability, mu FROM f
WHERE place = (SELECT max(place) FROM part AS inner WHERE inner.parent = f.part);

-- One dummy category in every row, and rows of nobody: alpha of each dummy category, the rest are people.
CREATE TABLE cover AS
SELECT part, base, D, coalesce(dummies * 1.0 / nullif(people + D * dummies, 0), floor) AS alpha
FROM (
    SELECT whole.part, inner.part AS base, CAST(json_extract(whole.body, '$.floor') AS REAL) AS floor,
        nullif(json_extract(whole.body, '$.people'), 0) AS people, json_extract(whole.body, '$.dummies') AS dummies,
        (SELECT CAST(round(sum(mu)) AS INTEGER) FROM (
            SELECT DISTINCT code, mu FROM report WHERE report.part = inner.part)) AS D
    FROM part AS whole JOIN part AS inner ON inner.parent = whole.part
    WHERE whole.kind = 'covered' AND whole.depth = (SELECT depth FROM level)
);
INSERT INTO report
SELECT cover.part, own.code | (1 << (bits + dummy.value)), number.value,
    ((1 - D * alpha) * coalesce(report.probability, 0) + alpha * own.mu) / D, own.mu / D
FROM cover JOIN width ON width.part = base JOIN part ON part.part = cover.part
JOIN (SELECT DISTINCT part, code, mu FROM report) AS own ON own.part = base
JOIN number ON number.value < p JOIN number AS dummy ON dummy.value < D
LEFT JOIN report ON report.part = base AND report.code = own.code AND report.j = number.value;

INSERT INTO width
SELECT whole.part, CASE kind
    WHEN 'covered' THEN (SELECT bits + D FROM width JOIN cover ON width.part = base WHERE cover.part = whole.part)
    WHEN 'product' THEN (SELECT sum(bits) FROM width JOIN part USING (part) WHERE parent = whole.part)
    ELSE (SELECT max(bits) FROM width JOIN part USING (part) WHERE parent = whole.part)
END
FROM part AS whole WHERE kind IN ('mixture', 'product', 'covered') AND depth = (SELECT depth FROM level);

-- A row of a product is missing where one of its factors is; one with dummies where the base is, with all dummies.
INSERT INTO silent
SELECT whole.part, silent.shift, silent.bits, silent.code
FROM part AS whole JOIN part AS inner ON inner.parent = whole.part AND inner.place = 0
JOIN silent ON silent.part = inner.part
WHERE whole.kind = 'mixture' AND whole.depth = (SELECT depth FROM level)
UNION ALL
SELECT whole.part, silent.shift + (
    SELECT coalesce(sum(bits), 0) FROM part AS later JOIN width ON width.part = later.part
    WHERE later.parent = whole.part AND later.place > inner.place
), silent.bits, silent.code
FROM part AS whole JOIN part AS inner ON inner.parent = whole.part JOIN silent ON silent.part = inner.part
WHERE whole.kind = 'product' AND whole.depth = (SELECT depth FROM level)
UNION ALL
SELECT cover.part, 0, width.bits + D, (((1 << D) - 1) << width.bits) + (
    SELECT sum(silent.code << silent.shift) FROM silent WHERE silent.part = base
)
FROM cover JOIN width ON width.part = base;
DROP TABLE cover;

-- PART 4: counts of a sample, and the equations of the moment estimate ----------------------------

CREATE TABLE counted AS SELECT code, count(*) AS n FROM sample GROUP BY code;

CREATE TABLE told AS
SELECT code, n FROM counted WHERE NOT EXISTS (
    SELECT * FROM silent
    WHERE part = '0' AND counted.code >> silent.shift & ((1 << silent.bits) - 1) = silent.code
);

CREATE TABLE possible AS
SELECT code, j, mu, probability / mu AS r FROM report WHERE part = '0' AND NOT EXISTS (
    SELECT * FROM silent
    WHERE part = '0' AND report.code >> silent.shift & ((1 << silent.bits) - 1) = silent.code
);
CREATE INDEX possibles ON possible (code);

CREATE TABLE gamma AS
SELECT number.value AS j, coalesce(sum(n * r), 0.0) / (SELECT sum(n) FROM told) AS value
FROM number LEFT JOIN possible ON j = number.value LEFT JOIN told USING (code)
WHERE number.value < (SELECT p FROM part WHERE part = '0') GROUP BY number.value;

CREATE TABLE Q AS
SELECT one.j AS i, two.j AS j, sum(one.mu * one.r * two.r) / (
    SELECT sum(mu * r) FROM possible WHERE j = 0
) AS value
FROM possible AS one JOIN possible AS two USING (code) GROUP BY one.j, two.j;

-- A row for each category: its row of Q, and gamma in the column p.
CREATE TABLE cell AS
SELECT line.value AS i, col.value AS j, coalesce((
    SELECT value FROM Q WHERE Q.i = line.value AND Q.j = col.value
), 0.0) AS value
FROM number AS line JOIN number AS col, part
WHERE part.part = '0' AND line.value < p AND col.value < p
UNION ALL
SELECT j, p, value FROM gamma, part WHERE part.part = '0';
CREATE UNIQUE INDEX cells ON cell (i, j);
CREATE VIEW estimate AS SELECT i AS j, value AS w FROM cell WHERE j = (SELECT p FROM part WHERE part = '0');

-- PART 5: one step of the elimination of Gauss and Jordan, which needs no other order since Q is positive definite ---

CREATE TABLE pivot AS
SELECT j, value / (SELECT value FROM cell, step WHERE i = k AND j = k) AS value FROM cell, step WHERE i = k;
CREATE TABLE factor AS SELECT i, value FROM cell, step WHERE j = k AND i <> k;
UPDATE cell SET value = (SELECT value FROM pivot WHERE pivot.j = cell.j) WHERE i = (SELECT k FROM step);
UPDATE cell
SET value = value
    - (SELECT value FROM factor WHERE factor.i = cell.i) * (SELECT value FROM pivot WHERE pivot.j = cell.j)
WHERE i <> (SELECT k FROM step);
DROP TABLE pivot;
DROP TABLE factor;
