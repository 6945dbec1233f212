//! What scripts do to files, what they run and what they set.

use super::*;

fn said(script: &str) -> String {
    let deeds = read(script, None);
    let spell = |touch: &super::super::touch::Touch| match &touch.from {
        Some(from) => format!("{from} → {}", touch.path),
        None => format!("{} {}", touch.act.name(), touch.path),
    };
    deeds.touches.0.iter().map(spell).collect::<Vec<_>>().join("; ")
}

#[test]
fn files_that_are_read() {
    for (script, expected) in [
        ("cat a.txt b.txt", "read a.txt; read b.txt"),
        ("head -n 20 a.rs", "read a.rs"),
        ("head -20 a.rs | tail -5", "read a.rs"),
        ("tail -f -n 5 log/x.log", "read log/x.log"),
        ("less README.md", "read README.md"),
        ("sed -n '1,200p' src/a.rs", "read src/a.rs"),
        ("nl -ba src/a.rs | sed -n '80,150p'", "read src/a.rs"),
        ("awk '{print $1}' data.csv", "read data.csv"),
        ("jq '.x' a.json", "read a.json"),
        ("wc -l < a.txt", "read a.txt"),
        ("bat -r 1:20 a.py", "read a.py"),
        ("sed -n 1p a; echo ---; sed -n 2p b", "read a; read b"),
        ("open src/x.py 12", "read src/x.py"),
        ("str_replace_editor view /r/a.py --view_range 1 5", "read /r/a.py"),
    ] {
        assert_eq!(said(script), expected, "{script}");
    }
}

#[test]
fn files_that_are_written() {
    for (script, expected) in [
        ("echo hi > a.txt", "written a.txt"),
        ("echo hi >> a.txt", "modified a.txt"),
        ("make 2>&1 | tee build.log", "written build.log"),
        ("x | tee -a b.log", "modified b.log"),
        ("cat > src/a.rs <<'EOF'\nfn a() {}\nEOF", "written src/a.rs"),
        ("cat <<EOF > a.txt\nx > y\nEOF", "written a.txt"),
        ("sed -i 's/a/b/' x.rs", "modified x.rs"),
        ("sed -i '' -e 's/a/b/' x.rs y.rs", "modified x.rs; modified y.rs"),
        ("sed -i.bak 's/a/b/' x.rs", "modified x.rs"),
        ("sed -E -i 's/a+/b/' x.rs", "modified x.rs"),
        ("perl -pi -e 's/a/b/' x.rs", "modified x.rs"),
        ("perl -0pi -e 's/a/b/' x.rs", "modified x.rs"),
        ("cp a.rs b.rs", "written b.rs"),
        ("cp a.rs b.rs src/", "written src/a.rs; written src/b.rs"),
        ("cp -r a.rs src", "written src/a.rs"),
        ("install -m 755 bin/x /usr/local/bin/x", "written /usr/local/bin/x"),
        ("touch a b", "created a; created b"),
        ("mkdir -p a/b", "folder made a/b"),
        ("chmod +x run.sh", "modified run.sh"),
        ("curl -sSLo a.tgz https://x.y/a.tgz", "written a.tgz"),
        ("curl https://x.y/a --output b.html", "written b.html"),
        ("wget -O c.html https://x.y", "written c.html"),
        ("dd if=/dev/zero of=disk.img bs=1M", "written disk.img"),
        // Nothing says whether a formatter changed anything.
        ("gofmt -w a.go b.go", ""),
        ("truncate -s 0 a.log", "modified a.log"),
        ("awk -i inplace '{print}' a.csv", "modified a.csv"),
        ("create new.py", "created new.py"),
    ] {
        assert_eq!(said(script), expected, "{script}");
    }
}

#[test]
fn files_that_go_or_get_another_name() {
    for (script, expected) in [
        ("mv a.rs b.rs", "a.rs → b.rs"),
        ("mv a.rs src/", "a.rs → src/a.rs"),
        ("mv a.rs src", "a.rs → src/a.rs"),
        ("mv -f a.rs b.rs src", "a.rs → src/a.rs; b.rs → src/b.rs"),
        ("git mv old.go new.go", "old.go → new.go"),
        ("rm -rf target/x a.o", "deleted target/x; deleted a.o"),
        ("git rm a.rs", "deleted a.rs"),
        ("git rm --cached a.rs", ""),
        ("git checkout -- a.rs b.rs", "restored a.rs; restored b.rs"),
        ("git checkout main -- a.rs", "restored a.rs"),
        ("git checkout main", ""),
        ("git restore src/a.rs", "restored src/a.rs"),
        ("git restore --staged src/a.rs", ""),
        ("git -C /r rm a.rs", "deleted /r/a.rs"),
    ] {
        assert_eq!(said(script), expected, "{script}");
    }
}

#[test]
fn scripts_inside_of_scripts_and_programs() {
    for (script, expected) in [
        ("bash -lc \"cat a && rm b\"", "read a; deleted b"),
        ("sudo sh -c 'echo x > /etc/y'", "written /etc/y"),
        ("bash <<'EOF'\ncat a\nEOF", "read a"),
        (
            "python3 - <<'EOF'\np = Path('a.py')\ns = p.read_text()\np.write_text(s)\nEOF",
            "read a.py; written a.py",
        ),
        ("python -c \"open('x.txt', 'w').write('1')\"", "written x.txt"),
        (
            "python3 - <<'EOF'\npath = 'a.py'\nwith open(path) as f: s = f.read()\nwith open(path, 'w') as f: f.write(s)\nEOF",
            "read a.py; written a.py",
        ),
        ("node -e \"fs.writeFileSync('o.json', x)\"", "written o.json"),
        (
            "patch -p1 <<'EOF'\n--- a/x.c\n+++ b/x.c\n@@ -1 +1 @@\n-a\n+b\nEOF",
            "modified x.c",
        ),
        ("git apply <<'EOF'\n--- /dev/null\n+++ b/n.c\nEOF", "created n.c"),
        (
            "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: n.rs\n+x\n*** Delete File: o.rs\n*** Update File: p.rs\n*** Move to: q.rs\n*** End Patch\nEOF",
            "created n.rs; deleted o.rs; modified p.rs; p.rs → q.rs",
        ),
    ] {
        assert_eq!(said(script), expected, "{script}");
    }
}

#[test]
fn folders_make_paths_whole() {
    for (script, expected) in [
        ("cd /repo && cat a.rs", "read /repo/a.rs"),
        ("cd /repo/x; cat ../a.rs", "read /repo/a.rs"),
        ("cd sub && cat a.rs", "read sub/a.rs"),
        ("(cd /a && rm b) && rm c", "deleted /a/b; deleted c"),
        ("cd \"$DIR\" && cat a.rs", "read a.rs"),
        ("cd /r && cd - && cat a", "read a"),
        ("pushd /r && touch x", "created /r/x"),
        ("bash -c 'cd /q && rm x'; rm y", "deleted /q/x; deleted y"),
    ] {
        assert_eq!(said(script), expected, "{script}");
    }
    let deeds = read("cat a.rs", Some("/home"));
    assert_eq!(&*deeds.touches.0[0].path, "/home/a.rs");
}

#[test]
fn what_is_no_file_is_not_taken_for_one() {
    for script in [
        "make > /dev/null 2>&1",
        "x 2>/dev/null",
        "cat *.rs",
        "cat $FILE",
        "rm -f \"$TMP\"/x",
        "grep -rn 'a > b' src",
        "echo 'a > b.txt'",
        "curl -s https://a.b/c",
        "sed 's/a/b/'",
        "cat - ",
        "for f in a b; do echo $f; done",
        "if [ $a -gt 3 ]; then echo x; fi",
        "[[ a > b ]]",
        "git log --format='%h > %s'",
        "echo x >&2",
        "cat <<< word",
        "rsync -a a host:/b",
        "awk '$1 > 3'",
        "find . -name '*.rs' -delete",
        "# cat a.txt",
    ] {
        assert!(
            !said(script).contains("read ") && !said(script).contains("deleted") && !said(script).contains(" "),
            "{script}: {}",
            said(script)
        );
    }
}

#[test]
fn commands_are_known_by_what_they_do() {
    for (script, expected) in [
        ("cd /r && cargo test -p x 2>&1 | tail -20", "cargo test -p x"),
        ("RUST_LOG=debug timeout 60 cargo test", "cargo test"),
        ("sudo -u bob env A=1 npm run build", "A=1 npm run build"),
        ("echo start; npm test; echo done", "npm test"),
        ("bash -lc 'go vet ./...'", "go vet ./..."),
        ("time pytest -x tests/a.py > out.txt", "pytest -x tests/a.py"),
        (
            "git commit -m \"$(cat <<'EOF'\nFirst line\n\nBody\nEOF\n)\"",
            "git commit -m '$(cat <<'EOF'…'",
        ),
        ("git commit -m 'fix: a b'", "git commit -m 'fix: a b'"),
        ("cat x | python run.py", "python run.py"),
        ("if make; then ./run.sh; fi", "make + ./run.sh"),
        ("cat a; sed -n 1p b", ""),
        ("python - <<'EOF'\nprint(1)\nEOF", "python - <<…"),
    ] {
        let deeds = read(script, None);
        let keys: Vec<&str> = deeds.runs.iter().map(|run| &*run.key).collect();
        assert_eq!(keys.join(" + "), expected, "{script}");
    }
    let deeds = read("cargo test --all | tail; grep x y; python -m pytest t", None);
    let kinds: Vec<_> = deeds
        .runs
        .iter()
        .map(|run| (&*run.family, run.is_look, run.is_piped, run.is_check))
        .collect();
    assert_eq!(
        kinds,
        [
            ("cargo test", false, true, true),
            ("grep", true, true, false),
            ("python -m pytest", false, false, true)
        ]
    );
}

#[test]
fn what_scripts_set() {
    for (script, expected) in [
        // The variables of one shell are gone with it.
        ("export PORT=9090 HOST=x", ""),
        ("git config user.name Bob", "git config user.name Bob"),
        (
            "npm config set registry https://r.example",
            "npm config registry https://r.example",
        ),
        ("echo 'PORT=1' >> .env", ".env PORT 1"),
        ("sed -i 's/port: 8080/port: 9090/' app.yaml", "app.yaml port 9090"),
        (
            "sed -i 's|^level = \"info\"|level = \"debug\"|' /r/log.toml",
            "/r/log.toml level debug",
        ),
        ("perl -pi -e 's/port=1/port=2/' a.ini", "a.ini port 2"),
        ("export PATH=$PATH:/x", ""),
        ("sed -i 's/[0-9]*/x/' a.yaml", ""),
        ("echo hello > a.yaml", ""),
        ("cat > .env <<'EOF'\nA=1\nB=two\nEOF", ".env A 1; .env B two"),
    ] {
        let deeds = read(script, None);
        let changes: Vec<String> = deeds
            .changes
            .iter()
            .map(|change| format!("{} {} {}", change.place, change.key, change.new))
            .collect();
        assert_eq!(changes.join("; "), expected, "{script}");
    }
}
