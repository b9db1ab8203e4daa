-- Switches on what the other statements need, until the server restarts. It needs UPDATE on performance_schema, and a server that was
-- started with performance_schema=ON (MariaDB's default is OFF). Timing all waits costs; undo it with the same UPDATEs and 'NO'.
UPDATE performance_schema.setup_instruments SET enabled = 'YES', timed = 'YES'
 WHERE name LIKE 'wait/%' OR name LIKE 'stage/%' OR name LIKE 'statement/%' OR name = 'idle';
UPDATE performance_schema.setup_consumers SET enabled = 'YES'
 WHERE name LIKE 'events_waits_%' OR name LIKE 'events_stages_%' OR name LIKE 'events_statements_%'
    OR name IN ('global_instrumentation', 'thread_instrumentation', 'statements_digest');
