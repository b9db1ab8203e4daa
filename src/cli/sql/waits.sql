-- The last waits of all threads: performance_schema_events_waits_history_long_size of them.
-- Needs `seatrace sql setup`: consumer events_waits_history_long, instruments wait/%.
SELECT event_name, timer_wait
  FROM performance_schema.events_waits_history_long
 WHERE thread_id NOT IN (SELECT thread_id FROM performance_schema.threads WHERE processlist_id = CONNECTION_ID())
 ORDER BY thread_id, event_id;
