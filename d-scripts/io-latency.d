/*
 * io-latency.d - time that disks take for a read or a write, by device
 *
 * GROUP    files
 * USAGE    dtrace -q -s io-latency.d
 *
 * NEEDS
 *   providers  io
 *   target     no
 *
 * OPTIONS
 *   --interval TIME  tick-1d         print a cumulative pass that often; 1s..1d
 *
 * FIELDS
 *   device     text   name of the device
 *   direction  text   read or write
 *   value      ns     distribution
 *
 * OUTPUT
 *   One aggregation, io_latency, of the whole system: a server's writes are often issued by the kernel in its place.
 *
 * OVERHEAD
 *   Estimated: two probes a request that reaches a device.
 *
 * SEE ALSO
 *   io-size, io-snoop, file-latency
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

#pragma D option quiet
/* One start time for each request under way. */
#pragma D option dynvarsize=4m

unsigned long long il_start[unsigned long long, unsigned long long];
uint64_t il_pass;

BEGIN
{
	printf("# seatrace\t1\n# script\tio-latency\t1\n");
	printf("# start\t%d\t%Y\n", walltimestamp, walltimestamp);
}

io:::start
{
	il_start[args[0]->b_edev, args[0]->b_blkno] = timestamp;
}

io:::done
/il_start[args[0]->b_edev, args[0]->b_blkno]/
{
	@io_latency[args[1]->dev_statname, args[0]->b_flags & B_READ ? "read" : "write"] =
	    quantize(timestamp - il_start[args[0]->b_edev, args[0]->b_blkno]);
	il_start[args[0]->b_edev, args[0]->b_blkno] = 0;
}

tick-1d
{
	il_pass++;
	printf("# pass\t%d\t%d\tcumulative\n", il_pass, walltimestamp);
	printf("# aggregation\tio_latency\tquantize\tns\tdevice:text\tdirection:text\n");
	printa("%S\t%S\t%@d\n", @io_latency);
	printf("# end\tio_latency\n");
}

END
{
	printf("# pass\t%d\t%d\tcumulative\n", il_pass + 1, walltimestamp);
	printf("# aggregation\tio_latency\tquantize\tns\tdevice:text\tdirection:text\n");
	printa("%S\t%S\t%@d\n", @io_latency);
	printf("# end\tio_latency\n");
	printf("# stop\t%d\n", walltimestamp);
}
