-- Classes of statements since the server started, or since TRUNCATE TABLE of the table below.
-- Needs `seatrace sql setup`: consumer statements_digest, instruments statement/%.
SELECT schema_name, digest, digest_text, count_star, sum_timer_wait, min_timer_wait, avg_timer_wait, max_timer_wait
  FROM performance_schema.events_statements_summary_by_digest
 ORDER BY sum_timer_wait DESC;
