-- The last statements with their texts, as query records.
-- Needs `seatrace sql setup`: consumer events_statements_history_long, instruments statement/%.
SELECT thread_id, event_id, event_name, timer_wait, lock_time, sql_text, current_schema, mysql_errno, rows_sent, rows_examined,
       rows_affected
  FROM performance_schema.events_statements_history_long
 WHERE thread_id NOT IN (SELECT thread_id FROM performance_schema.threads WHERE processlist_id = CONNECTION_ID())
 ORDER BY timer_start;
