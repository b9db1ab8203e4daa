/*
 * What dtrace.h needs of libelf's header, for machines without libelf-dev: searched after the system's folders.
 */
#include <elf.h>
typedef Elf64_Addr GElf_Addr;
typedef Elf64_Sym GElf_Sym;
typedef Elf64_Xword GElf_Xword;
