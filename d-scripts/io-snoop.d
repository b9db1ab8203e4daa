/*
 * io-snoop.d - one line for each read or write that reaches a disk
 *
 * GROUP    files
 * USAGE    dtrace -q -s io-snoop.d
 *
 * NEEDS
 *   providers  io
 *   target     no
 *
 * OPTIONS
 *   --min TIME       $1              only requests that took at least this long; 0s
 *
 * FIELDS
 *   end        wall   when it was done
 *   process    text   name of the thread (Linux) or process that issued it
 *   pid        int    its process
 *   device     text   name of the device
 *   direction  text   read or write
 *   block      int    block number on the device
 *   size       bytes
 *   elapsed    ns     from its start to its end
 *
 * OUTPUT
 *   One `io` record a request, in the order of their ends, of the whole system.
 *
 * OVERHEAD
 *   Estimated: two probes and a line a request that reaches a device.
 *
 * SEE ALSO
 *   io-latency, io-size, file-latency
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

#pragma D option quiet
#pragma D option defaultargs
/* Lines appear at once. */
#pragma D option switchrate=10hz
/* What is known at the start of each request under way. */
#pragma D option dynvarsize=8m

unsigned long long sn_start[unsigned long long, unsigned long long];
string sn_process[unsigned long long, unsigned long long];
int sn_pid[unsigned long long, unsigned long long];

BEGIN
{
	printf("# seatrace\t1\n# script\tio-snoop\t1\n");
	printf("# start\t%d\t%Y\n# record\tio\tend:wall\tprocess:text\tpid:int\tdevice:text\tdirection:text\tblock:int\tsize:bytes\telapsed:ns\n", walltimestamp, walltimestamp);
}

io:::start
{
	sn_start[args[0]->b_edev, args[0]->b_blkno] = timestamp;
	sn_process[args[0]->b_edev, args[0]->b_blkno] = execname;
	sn_pid[args[0]->b_edev, args[0]->b_blkno] = pid;
}

io:::done
/sn_start[args[0]->b_edev, args[0]->b_blkno] &&
    timestamp - sn_start[args[0]->b_edev, args[0]->b_blkno] >= $1/
{
	printf("io\t%d\t%S\t%d\t%S\t%s\t%d\t%d\t%d\n", walltimestamp,
	    sn_process[args[0]->b_edev, args[0]->b_blkno], sn_pid[args[0]->b_edev, args[0]->b_blkno],
	    args[1]->dev_statname, args[0]->b_flags & B_READ ? "read" : "write",
	    args[0]->b_blkno, args[0]->b_bcount, timestamp - sn_start[args[0]->b_edev, args[0]->b_blkno]);
}

io:::done
/sn_start[args[0]->b_edev, args[0]->b_blkno]/
{
	sn_start[args[0]->b_edev, args[0]->b_blkno] = 0;
	sn_process[args[0]->b_edev, args[0]->b_blkno] = 0;
	sn_pid[args[0]->b_edev, args[0]->b_blkno] = 0;
}

END
{
	printf("# stop\t%d\n", walltimestamp);
}
