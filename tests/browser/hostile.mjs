// Writes inputs that try to break out of a page: a slow log and folded stacks, into the folder that is named.
import { writeFileSync } from "node:fs";
import { join } from "node:path";

export const STRINGS = [
  "<script>window.hacked=1</script>",
  "</script><script>window.hacked=2</script>",
  "\"><img src=x onerror=window.hacked=3>",
  "' onmouseover='window.hacked=4' x='",
  "</p></details></th></tr></table><svg onload=window.hacked=5>",
  "]]><!-- --><!--",
  "&lt;b&gt; &#x3c;script&#x3e;window.hacked=6&#x3c;/script&#x3e;",
  "{{ 7*7 }} {% include 'x' %} ${window.hacked=7}",
  "javascript:window.hacked=8",
  "</iframe></style></title></textarea><iframe srcdoc='<script>parent.hacked=9</script>'>",
  "\u001b[31mred\u001b]0;title\u0007 \u0000 \u0008 \u009b31m",
  "\u202eright to left\u2066 \u200b \ufeff \ufffe \ud83d\udc2c",
  "url(http://example.invalid/x) @import 'http://example.invalid/y'",
  "%s%n %00 \\u003cscript\\u003e",
];

function log() {
  const event = (text, at) =>
    [
      `# User@Host: ${text}[${text}] @ ${text} [${text}]`,
      `# Thread_id: 1  Schema: ${text}  QC_hit: No`,
      `# Query_time: 0.${100 + at}  Lock_time: 0.0  Rows_sent: 1  Rows_examined: 1`,
      `SET timestamp=${1700000000 + at};`,
      `select \`${text.replaceAll("`", "")}\` from t /* ${text} */ where a = "x";`,
      "",
    ].join("\n");
  return STRINGS.map(event).join("");
}

const folded = () => STRINGS.map((text, at) => `main;${text.replaceAll(";", ":")};leaf ${10 + at}\n`).join("");

if (process.argv[2]) {
  writeFileSync(join(process.argv[2], "hostile.log"), log());
  writeFileSync(join(process.argv[2], "hostile.folded"), folded());
}
