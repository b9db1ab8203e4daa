/*
 * What dtrace.h needs of the CTF library's header: two types of fields that we do not read.
 */
typedef struct ctf_dict ctf_file_t;
typedef long ctf_id_t;
