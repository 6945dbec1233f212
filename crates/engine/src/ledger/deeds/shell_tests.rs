//! What the shell reader makes of scripts.

use super::*;

fn spelled(script: &str) -> String {
    let spell = |simple: Simple| {
        let words: Vec<String> = simple
            .words
            .iter()
            .map(|word| match word.is_plain {
                true => word.text.clone(),
                false => format!("~{}", word.text),
            })
            .collect();
        let mut said = words.join(",");
        for (flow, target) in &simple.redirects {
            let sign = match flow {
                Flow::In => "<",
                Flow::Out => ">",
                Flow::Append => ">>",
            };
            said.push_str(&format!(" {sign}{}", target.text));
        }
        if let Some(document) = &simple.document {
            said.push_str(&format!(" doc({})", document.escape_debug()));
        }
        let joint = match simple.joint {
            Joint::Next => ";",
            Joint::And => "&&",
            Joint::Or => "||",
            Joint::Pipe => "|",
        };
        format!("{}{said}{joint}", "(".repeat(simple.depth as usize))
    };
    read(script).into_iter().map(spell).collect::<Vec<_>>().join(" ")
}

#[test]
fn words_quotes_and_operators() {
    for (script, expected) in [
        ("ls -la", "ls,-la;"),
        ("a && b || c; d | e & f", "a&& b|| c; d| e; f;"),
        ("echo 'a b' \"c d\" e\\ f", "echo,a b,c d,e f;"),
        ("echo \"say \\\"hi\\\"\"", "echo,say \"hi\";"),
        ("x 2>&1 >out 2>/dev/null", "x >out >/dev/null;"),
        ("x &> all", "x >all;"),
        ("x >>log <in", "x >>log <in;"),
        ("cat > f <<'EOF'\na $x 'b\nEOF\nls", "cat >f doc(a $x \\'b\\n); ls;"),
        ("cat <<-END | wc\n\ta\n\tEND\nls", "cat doc(\\ta\\n)| wc; ls;"),
        ("cat <<A <<B\n1\nA\n2\nB\n", "cat doc(2\\n);"),
        ("echo $HOME ${x}y `date`", "echo,~$HOME,~${x}y,~`date`;"),
        ("rm *.o a?b", "rm,~*.o,~a?b;"),
        ("cp {a,b} c", "cp,~{a,b},c;"),
        ("find . -exec ls {} \\;", "find,.,-exec,ls,{},;;"),
        ("(cd x && make) && y", "(cd,x&& (make; y;"),
        ("# note\nls # more\npwd", "ls; pwd;"),
        ("a \\\n  b", "a,b;"),
        ("grep '<<EOF' f", "grep,<<EOF,f;"),
        ("cat <<< \"$x\"", "cat;"),
        ("diff <(sort a) <(sort b)", "diff,~,~;"),
        ("X=(1 2) y", "~X=,y;"),
        ("printf $'a\\nb'", "printf,a\nb;"),
        ("echo a#b", "echo,a#b;"),
        ("echo 'unterminated", "echo,unterminated;"),
        ("тест «файл» > вывод.txt", "тест,«файл» >вывод.txt;"),
    ] {
        assert_eq!(spelled(script), expected, "{script}");
    }
}

#[test]
fn a_commit_message_in_a_here_document_ends_where_it_ends() {
    let script = "git add -A && git commit -m \"$(cat <<'EOF'\nIt's (half) a \"quote\n\nEOF\n)\" && git push";
    let simples = read(script);
    assert_eq!(simples.len(), 3);
    assert_eq!(simples[1].words.len(), 4);
    assert!(simples[1].words[3].text.contains("It's (half)"));
    assert_eq!(simples[2].words[1].text, "push");
}

#[test]
fn long_nests_are_linear() {
    for piece in ["$(", "\"$(", "(", "<<A\n", "`", "${", "{a,", "'", "\\", "<<", "&", ">"] {
        read(&piece.repeat(100_000 / piece.len()));
    }
}
