/*
 * key-cache.d - index blocks of MyISAM that the key cache had, and had not, by file
 *
 * GROUP    files
 * USAGE    dtrace -q -s key-cache.d -p PID
 *
 * NEEDS
 *   probes     mysql keycache-read-start keycache-read-hit keycache-read-miss keycache-read-done keycache-write-start keycache-write-done
 *   target     yes
 *
 * FIELDS
 *   file       text         the index file
 *   kc_reads   count count  calls that read
 *   kc_hits    count count  blocks that the cache had
 *   kc_misses  count count  blocks that it had to fetch
 *   kc_bytes   sum bytes    bytes read
 *   kc_writes  count count  calls that write
 *   kc_written sum bytes    bytes written
 *   operation  text         read or write
 *   kc_time    quantize ns  time of the calls
 *
 * OUTPUT
 *   Seven aggregations. InnoDB does not use the key cache.
 *
 * OVERHEAD
 *   Estimated: three to four probes a call, each copying the name of the file.
 *
 * SEE ALSO
 *   file-latency
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

#pragma D option quiet
/* Keys of this size are copied. */
#pragma D option strsize=256

self int64_t kc_since;
self uint64_t kc_file_at;       /* address of the name of the file in the server */

BEGIN
{
	printf("# seatrace\t1\n# script\tkey-cache\t1\n# start\t%d\t%Y\n# target\t%d\n# strsize\t256\n",
	    walltimestamp, walltimestamp, $target);
}

mysql$target:::keycache-read-start
{
	self->kc_since = timestamp;
	self->kc_file_at = arg0;
	this->kc_file = arg0 ? copyinstr(arg0) : "";
	@kc_reads[this->kc_file] = count();
	@kc_bytes[this->kc_file] = sum(arg1);
}

mysql$target:::keycache-read-hit
/self->kc_since/
{
	@kc_hits[self->kc_file_at ? copyinstr(self->kc_file_at) : ""] = count();
}

mysql$target:::keycache-read-miss
/self->kc_since/
{
	@kc_misses[self->kc_file_at ? copyinstr(self->kc_file_at) : ""] = count();
}

mysql$target:::keycache-read-done
/self->kc_since/
{
	@kc_time["read"] = quantize(timestamp - self->kc_since);
	self->kc_since = 0;
	self->kc_file_at = 0;
}

mysql$target:::keycache-write-start
{
	self->kc_since = timestamp;
	this->kc_file = arg0 ? copyinstr(arg0) : "";
	@kc_writes[this->kc_file] = count();
	@kc_written[this->kc_file] = sum(arg1);
}

mysql$target:::keycache-write-done
/self->kc_since/
{
	@kc_time["write"] = quantize(timestamp - self->kc_since);
	self->kc_since = 0;
}

END
{
	printf("# aggregation\tkc_reads\tcount\tcount\tfile:text\n");
	printa("%S\t%@d\n", @kc_reads);
	printf("# end\tkc_reads\n");
	printf("# aggregation\tkc_hits\tcount\tcount\tfile:text\n");
	printa("%S\t%@d\n", @kc_hits);
	printf("# end\tkc_hits\n");
	printf("# aggregation\tkc_misses\tcount\tcount\tfile:text\n");
	printa("%S\t%@d\n", @kc_misses);
	printf("# end\tkc_misses\n");
	printf("# aggregation\tkc_bytes\tsum\tbytes\tfile:text\n");
	printa("%S\t%@d\n", @kc_bytes);
	printf("# end\tkc_bytes\n");
	printf("# aggregation\tkc_writes\tcount\tcount\tfile:text\n");
	printa("%S\t%@d\n", @kc_writes);
	printf("# end\tkc_writes\n");
	printf("# aggregation\tkc_written\tsum\tbytes\tfile:text\n");
	printa("%S\t%@d\n", @kc_written);
	printf("# end\tkc_written\n");
	printf("# aggregation\tkc_time\tquantize\tns\toperation:text\n");
	printa("%S\t%@d\n", @kc_time);
	printf("# end\tkc_time\n");
	printf("# stop\t%d\n", walltimestamp);
}
