// Writes token_vectors.json: texts with their token counts by an implementation that shares no code with
// ours. Run where the npm package gpt-tokenizer is installed:
//   node make_token_vectors.mjs > token_vectors.json
import { countTokens as o200k } from "gpt-tokenizer/encoding/o200k_base";
import { countTokens as cl100k } from "gpt-tokenizer/encoding/cl100k_base";

const texts = [
  "", "a", " ", "\n", "\t", "hello world", "Hello, World! How's it going?", "I'LL we've THEY'RE it's don't",
  "The quick brown fox jumps over the lazy dog.",
  "Съешь же ещё этих мягких французских булок, да выпей чаю.", "Надо проверить сервер и обновить конфиг.",
  "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία.", "דג סקרן שט בים מאוכזב ולפתע מצא חברה", "نص حكيم له سر قاطع وذو شأن عظيم",
  "ऋषियों को सताने वाले दुष्ट राक्षसों के राजा रावण", "เป็นมนุษย์สุดประเสริฐเลิศคุณค่า", "யாமறிந்த மொழிகளிலே தமிழ்மொழி",
  "压缩上下文时必须保留用户的原始指令与文件路径", "いろはにほへとちりぬるを カタカナ", "키스의 고유조건은 입술끼리 만나야 하고", "გთხოვთ ახლავე გაიაროთ რეგისტრაცია",
  "Բել դղյակի ձախ ժամն", "የኢትዮጵያ ቋንቋ", "Zażółć gęślą jaźń", "Větší štěně", "Pchnąć w tę łódź jeża", "Fußgängerübergänge",
  "👍", "👩‍👩‍👧‍👦", "🏳️‍🌈 flag", "👋🏽 hi 🇩🇪🇺🇦", "e\u0301 combining a\u0308\u0323", "\u200b\u200d zero width", "\u202eright to left\u202c",
  "fn main() {\n    println!(\"{}\", 1 + 2);\n}\n", "def f(x):\n\treturn x**2  # square\n\n\n\nclass A: pass\n",
  "#include <stdio.h>\nint main(void){for(int i=0;i<10;i++){printf(\"%d\\n\",i);}}", "SELECT * FROM t WHERE a='b' AND c>=10;--x",
  "{\"a\":[1,2.50,-3e10],\"b\":null,\"c\":{\"d\":\"e\\n\"}}", "<div class=\"x\">&amp;</div>", "git commit -m 'wip' && cargo test --workspace | tail -20",
  "src/auth/login_handler.rs:142:17: error[E0308]: mismatched types", "thread 'main' panicked at 'index out of bounds: the len is 3 but the index is 7'",
  "https://example.com/a/b?c=d&e=f#g", "user@example.com", "550e8400-e29b-41d4-a716-446655440000", "da39a3ee5e6b4b0d3255bfef95601890afd80709",
  "1", "12", "123", "1234", "1234567890", "3.14159265358979", "0xDEADBEEF", "1,000,000.00", "2026-08-01T10:00:00.250Z", "v1.2.3-rc.4+build.5", "٣٤٥ ४५६",
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "  ", "   ", "    ", " a", "  a", "   a", "a ", "a  ", "a   b", "\n\n", "\n\n\n", "\r\n", "\r\n\r\n", "a\n b", "a \n b", "a\n\n  b", "\t\t\tx", " \t \n \t x", "x\u00a0y\u2003z\u3000w",
  "-".repeat(80), "=".repeat(100), "_".repeat(33), "/".repeat(20), "a".repeat(1000), " ".repeat(1000), "\n".repeat(1000), "ab".repeat(500), "😀".repeat(200), "ж".repeat(300), "^".repeat(257),
  "<|endoftext|>", "<|im_start|>system<|im_end|>", "<|fim_prefix|>x<|endofprompt|>", "<|start|>assistant<|channel|>",
  "\u0000\u0001\u0007\u001b[31mred\u001b[0m", "\ufffd\ufffd", "\ue000\uf8ff", "\u{10ffff}", "ﬁ ﬂ Ⅷ ½ ²", "ＦＵＬＬ　ｗｉｄｔｈ", "ǅ ǆ ᾳ", "don’t “quote” — dash … ellipsis",
  "CamelCaseIdentifier snake_case_identifier kebab-case-identifier SCREAMING_SNAKE XMLHttpRequest getHTTPResponseCode2XX",
  "   1|def budget_retry(self, cache: int = 409) -> None:\n   2|    \"\"\"token window\"\"\"\n   3|    raise ValueError\n",
  "| a | b |\n|---|---|\n| 1 | 2 |\n", "- [x] done\n- [ ] open\n", "$ ls -la\ntotal 48\ndrwxr-xr-x  2 root root  4096 Nov 15 20:34 .\n",
  "--- a/x\n+++ b/x\n@@ -1,3 +1,4 @@\n-old\n+new\n context\n", "Traceback (most recent call last):\n  File \"x.py\", line 1, in <module>\nKeyError: 'tool_calls'\n",
];
const none = { disallowedSpecial: new Set() };
const rows = texts.map((text) => JSON.stringify({ text, o200k: o200k(text, none), cl100k: cl100k(text, none) }));
console.log("[\n" + rows.join(",\n") + "\n]");
