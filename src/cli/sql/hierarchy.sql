-- The last statements, their stages, and the waits in these, each with the event that it lies in; seatrace puts them together. That is
-- quicker than a recursive query, and no path is cut. Transactions are left out: they contain statements and lie in statements.
-- Needs `seatrace sql setup`: instruments and consumers of statements, stages and waits (…_history_long).
SELECT thread_id, event_id, IF(nesting_event_type = 'TRANSACTION', NULL, nesting_event_id) AS nesting_event_id, event_name, timer_wait
  FROM (SELECT thread_id, event_id, nesting_event_id, nesting_event_type, event_name, timer_wait
          FROM performance_schema.events_statements_history_long
        UNION ALL
        SELECT thread_id, event_id, nesting_event_id, nesting_event_type, event_name, timer_wait
          FROM performance_schema.events_stages_history_long
        UNION ALL
        SELECT thread_id, event_id, nesting_event_id, nesting_event_type, event_name, timer_wait
          FROM performance_schema.events_waits_history_long) AS events
 WHERE thread_id NOT IN (SELECT thread_id FROM performance_schema.threads WHERE processlist_id = CONNECTION_ID())
 ORDER BY thread_id, event_id;
