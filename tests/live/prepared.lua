-- Executes --statement so many --times, prepared by the binary protocol.
sysbench.cmdline.options = { statement = {"the statement", "SELECT 1"}, times = {"how often", 1} }
function thread_init()
  connection = sysbench.sql.driver():connect()
  statement = connection:prepare(sysbench.opt.statement)
end
function event()
  for _ = 1, sysbench.opt.times do statement:execute() end
end
function thread_done() statement:close() connection:disconnect() end
