/*
 * io-size.d - sizes of reads and writes that reach the disks, by process
 *
 * GROUP    files
 * USAGE    dtrace -q -s io-size.d
 *
 * NEEDS
 *   providers  io
 *   target     no
 *
 * OPTIONS
 *   --interval TIME  tick-1d         print a cumulative pass that often; 1s..1d
 *
 * FIELDS
 *   process    text   name of the thread (Linux) or process that issued it
 *   device     text   name of the device
 *   direction  text   read or write
 *   value             io_size: bytes, distribution. is_bytes: bytes, sum
 *
 * OUTPUT
 *   Two aggregations with the same keys, of the whole system. Buffered writes are issued by the kernel, under its own name.
 *
 * OVERHEAD
 *   Estimated: one probe a request that reaches a device.
 *
 * SEE ALSO
 *   io-latency, io-snoop, file-latency
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

#pragma D option quiet

uint64_t is_pass;

BEGIN
{
	printf("# seatrace\t1\n# script\tio-size\t1\n");
	printf("# start\t%d\t%Y\n", walltimestamp, walltimestamp);
}

io:::start
{
	this->is_direction = args[0]->b_flags & B_READ ? "read" : "write";
	@io_size[execname, args[1]->dev_statname, this->is_direction] = quantize(args[0]->b_bcount);
	@is_bytes[execname, args[1]->dev_statname, this->is_direction] = sum(args[0]->b_bcount);
}

tick-1d
{
	is_pass++;
	printf("# pass\t%d\t%d\tcumulative\n", is_pass, walltimestamp);
	printf("# aggregation\tio_size\tquantize\tbytes\tprocess:text\tdevice:text\tdirection:text\n");
	printa("%S\t%S\t%S\t%@d\n", @io_size);
	printf("# end\tio_size\n");
	printf("# aggregation\tis_bytes\tsum\tbytes\tprocess:text\tdevice:text\tdirection:text\n");
	printa("%S\t%S\t%S\t%@d\n", @is_bytes);
	printf("# end\tis_bytes\n");
}

END
{
	printf("# pass\t%d\t%d\tcumulative\n", is_pass + 1, walltimestamp);
	printf("# aggregation\tio_size\tquantize\tbytes\tprocess:text\tdevice:text\tdirection:text\n");
	printa("%S\t%S\t%S\t%@d\n", @io_size);
	printf("# end\tio_size\n");
	printf("# aggregation\tis_bytes\tsum\tbytes\tprocess:text\tdevice:text\tdirection:text\n");
	printa("%S\t%S\t%S\t%@d\n", @is_bytes);
	printf("# end\tis_bytes\n");
	printf("# stop\t%d\n", walltimestamp);
}
