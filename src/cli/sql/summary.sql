-- All waits since the server started, or since TRUNCATE TABLE performance_schema.events_waits_summary_global_by_event_name.
-- Needs `seatrace sql setup`: instruments wait/%.
SELECT event_name, count_star, sum_timer_wait
  FROM performance_schema.events_waits_summary_global_by_event_name
 WHERE count_star > 0
 ORDER BY event_name;
