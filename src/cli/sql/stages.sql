-- All stages of statements since the server started, or since TRUNCATE TABLE of the table below.
-- Needs `seatrace sql setup`: instruments stage/%, consumers events_stages_%.
SELECT event_name, count_star, sum_timer_wait
  FROM performance_schema.events_stages_summary_global_by_event_name
 WHERE count_star > 0
 ORDER BY event_name;
