//! Over standard input and output: versions, every tool, mistakes of every kind, and the end.

use serde_json::Value;
use serde_json::json;

use crate::client::Client;
use crate::home::Home;
use crate::home::assert_documented;
use crate::home::documentation;
use crate::stage;

#[test]
fn every_version_of_the_protocol_is_spoken() {
    let home = Home::new();
    for (asked, agreed) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        // Those who want a version that has no handshake, or none that anybody knows, get the newest that has one.
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ] {
        let mut client = Client::start(home.command(&["mcp"]));
        let introduction = client.introduce(asked);
        assert_eq!(introduction["protocolVersion"], agreed, "{asked}");
        assert_eq!(introduction["serverInfo"]["name"], "mainstay");
        assert!(
            introduction["instructions"]
                .as_str()
                .unwrap()
                .contains("not instructions")
        );
        assert!(introduction["capabilities"]["tools"].is_object());
        assert!(client.request("ping", json!({}))["result"].is_object());
        assert!(client.end().success());
    }
}

#[test]
fn the_version_without_a_handshake_is_spoken() {
    let home = stage::compacted();
    let mut client = Client::start(home.command(&["mcp"]));
    let about = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}
    });
    let found = client.request("server/discover", json!({"_meta": about}));
    assert!(found["result"]["instructions"].is_string(), "{found}");
    assert!(found["result"]["supportedVersions"].to_string().contains("2026-07-28"));
    let call = json!({"_meta": about, "name": "search", "arguments": {"words": "walrus"}});
    let answer = client.request("tools/call", call);
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    assert!(client.end().success());
}

#[test]
fn every_field_of_a_result_is_documented() {
    let home = stage::compacted();
    let mut client = Client::ready(home.command(&["mcp"]));
    let found = client.call("search", json!({"words": "giraffe"}))["structuredContent"].clone();
    let reference = found["hits"][0]["reference"].clone();
    let mut results = vec![
        found,
        client.call("fetch", json!({"reference": reference}))["structuredContent"].clone(),
    ];
    for tool in ["ledger", "checkpoints", "dropped"] {
        results.push(client.call(tool, json!({}))["structuredContent"].clone());
    }
    for result in results {
        assert!(result["notice"].is_string());
        assert_documented(&result, documentation("`mainstay mcp`"));
    }
}

#[test]
fn every_tool_is_listed_and_answers() {
    let home = stage::compacted();
    let mut client = Client::ready(home.command(&["mcp"]));
    let tools = client.request("tools/list", json!({}))["result"]["tools"].clone();
    let names: Vec<&str> = tools
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["search", "fetch", "ledger", "checkpoints", "dropped"]);
    for tool in tools.as_array().unwrap() {
        assert_eq!(tool["inputSchema"]["type"], "object");
        assert_eq!(tool["annotations"]["readOnlyHint"], true);
    }

    let found = client.call("search", json!({"words": "walrus port"}));
    let reference = found["structuredContent"]["hits"][0]["reference"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(found["content"][0]["text"].as_str().unwrap().contains(&reference));
    assert!(
        client
            .told("fetch", json!({"reference": reference}))
            .contains("port 8443")
    );
    assert!(client.told("ledger", json!({})).contains("Never touch migrations/"));
    let listed = client.call("checkpoints", json!({}))["structuredContent"]["checkpoints"].clone();
    let id = listed[0]["id"].as_str().unwrap();
    assert!(listed[0]["tokens_before"].as_u64() > listed[0]["tokens_after"].as_u64());
    let dropped = client.told("dropped", json!({"checkpoint": id, "most": 3}));
    assert!(dropped.contains(id) && dropped.contains("skip 3"), "{dropped}");
    assert!(client.end().success());
}

#[test]
fn secrets_stay_hidden_and_content_stays_content() {
    let home = stage::compacted();
    let everything = |arguments: &[&str]| -> String {
        let mut client = Client::ready(home.command(arguments));
        let mut all = String::new();
        for words in ["walrus", "zebra", stage::SECRET] {
            let found = client.call("search", json!({"words": words}));
            all.push_str(&found.to_string());
            for hit in found["structuredContent"]["hits"].as_array().unwrap() {
                let fetched = client.call("fetch", json!({"reference": hit["reference"]}));
                let text = fetched["content"][0]["text"].as_str().unwrap();
                assert_eq!(text.matches('⟦').count(), 2, "{text}");
                assert!(!text.contains("<|im_start|>") && !text.contains("\nuser:"), "{text}");
                all.push_str(&fetched.to_string());
            }
        }
        for tool in ["ledger", "checkpoints", "dropped"] {
            all.push_str(&client.call(tool, json!({})).to_string());
        }
        all
    };
    let hidden = everything(&["mcp"]);
    assert!(!hidden.contains(stage::SECRET) && !hidden.contains("203.0.113.7"));
    assert!(hidden.contains("credential_ref:") && hidden.contains("[REDACTED_IP]"));
    assert!(everything(&["mcp", "--raw"]).contains(stage::SECRET));
    assert!(everything(&["mcp", "--ips", "none"]).contains("203.0.113.7"));
}

#[test]
fn a_long_text_comes_in_pages() {
    let home = stage::compacted();
    let mut client = Client::ready(home.command(&["mcp"]));
    let found = client.call("search", json!({"words": "giraffe"}));
    let reference = found["structuredContent"]["hits"][0]["reference"].clone();
    let (mut whole, mut offset) = (String::new(), json!(0));
    while !offset.is_null() {
        let page = client.call("fetch", json!({"reference": reference, "offset": offset}));
        whole.push_str(page["structuredContent"]["text"].as_str().unwrap());
        offset = page["structuredContent"]["next_offset"].clone();
    }
    let expected: String = (0..4_000)
        .map(|line| format!("giraffe step {line} took {line} ms\n"))
        .collect();
    assert_eq!(whole, expected);
}

#[test]
fn mistakes_are_answered_and_do_not_end_it() {
    let home = stage::compacted();
    let mut client = Client::ready(home.command(&["mcp"]));
    let unknown = client.request("tools/call", json!({"name": "erase", "arguments": {}}));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    assert!(unknown["error"]["message"].as_str().unwrap().contains("search, fetch"));
    assert_eq!(client.request("no/such/method", json!({}))["error"]["code"], -32601);
    for (tool, arguments, says) in [
        ("search", json!({}), "missing field `words`"),
        ("search", json!({"words": 7}), "expected a string"),
        ("search", json!({"words": "a", "more": 1}), "unknown field `more`"),
        ("fetch", json!({"reference": "m0"}), "search by words"),
        ("fetch", json!({"reference": "m0", "offset": -5}), "invalid value"),
        ("ledger", json!({"conversation": "nobody"}), "`checkpoints` lists"),
        ("dropped", json!({"checkpoint": "xyz"}), "`checkpoints` lists"),
    ] {
        let result = client.call(tool, arguments);
        assert_eq!(result["isError"], true, "{result}");
        assert!(
            result["content"][0]["text"].as_str().unwrap().contains(says),
            "{result}"
        );
    }
    for line in [
        "",
        "not JSON",
        "{\"jsonrpc\":\"2.0\",\"id\":",
        "[]",
        "7",
        "{\"jsonrpc\":\"1.0\"}",
        "\u{feff}{}",
        "{\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{}}",
        &"[".repeat(100_000),
        &format!("\"{}\"", "x".repeat(3 << 20)),
        &json!({"jsonrpc": "2.0", "id": 98, "method": "tools/call",
            "params": {"name": "search", "arguments": {"words": "walrus ".repeat(300_000)}}})
        .to_string(),
    ] {
        client.line(line);
        assert!(
            client.told("search", json!({"words": "walrus"})).contains("8443"),
            "{:.40}",
            line
        );
    }
    assert!(client.end().success());
}

#[test]
fn a_query_of_any_kind_within_the_limit_is_answered() {
    let home = stage::compacted();
    let mut client = Client::ready(home.command(&["mcp"]));
    for words in [
        "\" OR 1=1 --",
        "NEAR(",
        "*",
        "\u{0}",
        "walrus\u{202e}",
        &"walrus ".repeat(20_000),
    ] {
        assert_eq!(
            client.call("search", json!({"words": words}))["isError"],
            false,
            "{words:.40}"
        );
    }
}

#[test]
fn it_ends_when_its_input_does() {
    let home = Home::new();
    // Before anything was said, in the middle of a line, and after a conversation whose last answer is still owed.
    assert!(home.filter(&["mcp"], b"").status.success());
    assert!(home.filter(&["mcp"], b"{\"jsonrpc\":").status.success());
    let stage = stage::compacted();
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}});
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "search", "arguments": {"words": "walrus"}}});
    let output = stage.filter(&["mcp"], format!("{initialize}\n{initialized}\n{call}\n").as_bytes());
    assert!(output.status.success());
    let answers = String::from_utf8(output.stdout).unwrap();
    assert!(
        answers
            .lines()
            .any(|line| line.contains("\"id\":2") && line.contains("8443")),
        "{answers}"
    );
}

#[test]
fn without_a_store_it_says_so_and_makes_none() {
    let home = Home::new();
    let store = home.folder.path().join("nowhere/store.db");
    let mut client = Client::ready(home.command(&["mcp", "--store", store.to_str().unwrap()]));
    let result = client.call("search", json!({"words": "anything"}));
    assert_eq!(result["isError"], true);
    assert!(
        result["content"][0]["text"].as_str().unwrap().contains("no store at"),
        "{result}"
    );
    assert!(client.end().success());
    assert!(!store.parent().unwrap().exists());
}

#[test]
fn one_conversation_can_be_all_there_is() {
    let home = stage::compacted();
    let mut wide = Client::ready(home.command(&["mcp"]));
    let listed = wide.call("checkpoints", json!({}))["structuredContent"]["checkpoints"].clone();
    let key = listed[0]["conversation"].as_str().unwrap();
    let mut own = Client::ready(home.command(&["mcp", "--conversation", &key[..key.len() - 4]]));
    assert!(own.told("search", json!({"words": "walrus"})).contains("8443"));
    let mut other = Client::ready(home.command(&["mcp", "--conversation", "somebody else's"]));
    let result: Value = other.call("search", json!({"words": "walrus"}));
    assert_eq!(result["isError"], true, "{result}");
}
