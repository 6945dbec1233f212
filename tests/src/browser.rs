//! A browser to look at pages with: Chromium, driven through chromedriver by the WebDriver protocol over a plain socket.
//!
//! Nothing here waits for a time to pass: a script is asked again until it says yes, and the browser's own clock decides
//! when it has had long enough.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::io::BufRead;
use std::io::BufReader;
use std::io::Read;
use std::io::Write;
use std::net::TcpStream;
use std::path::Path;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use serde_json::json;
use tempfile::TempDir;

/// How long a condition may take to come true, in milliseconds: a slow machine under load needs seconds, a page
/// that never gets there should not stop everything.
const PATIENCE: u64 = 60_000;
/// How many pages may come one after another while something is waited for.
const NAVIGATIONS: u32 = 8;

/// The contrast of every text that is shown with what is behind it, and the worst of them.
pub const WORST_CONTRAST: &str = "(() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const known = new Map();
  const parse = (colour) => {
    if (!known.has(colour)) { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); known.set(colour, [...canvas.getImageData(0, 0, 1, 1).data]); }
    return known.get(colour);
  };
  const light = (rgb) => { const [r, g, b] = rgb.slice(0, 3).map((value) => value / 255).map((value) => value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const behind = (element) => { for (let at = element; at; at = at.parentElement) { const colour = parse(getComputedStyle(at).backgroundColor); if (colour[3] === 255) return colour; } return [255, 255, 255, 255]; };
  let worst = [99, ''];
  for (const element of document.querySelectorAll('body *')) {
    if (!element.checkVisibility() || element.matches(':disabled, option, script, style')) continue;
    if (![...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim())) continue;
    const style = getComputedStyle(element);
    const [one, other] = [light(parse(element instanceof SVGElement ? style.fill : style.color)), light(behind(element))];
    const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    if (ratio < worst[0]) worst = [ratio, element.className + ' ' + element.textContent.slice(0, 40)];
  }
  return worst;
})()";

/// A browser with one window, ended when it is dropped.
pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
    _profile: TempDir,
}

impl Browser {
    /// Starts one for a test. Where there is none the test is skipped, unless MAINSTAY_BROWSER_REQUIRED is set.
    pub fn for_test() -> Option<Self> {
        let browser = Self::start();
        if browser.is_none() {
            let is_required = std::env::var_os("MAINSTAY_BROWSER_REQUIRED").is_some();
            assert!(!is_required, "chromium and chromedriver are required and not installed");
            eprintln!("skipped: no chromium with chromedriver is installed");
        }
        browser
    }

    /// Starts one; `None` where chromedriver or Chromium are not installed.
    pub fn start() -> Option<Self> {
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let mut said = BufReader::new(driver.stdout.take().unwrap());
        let port = loop {
            let mut line = String::new();
            if said.read_line(&mut line).unwrap() == 0 {
                driver.wait().unwrap();
                return None;
            }
            let port = line.split("successfully on port ").nth(1);
            if let Some(port) = port.and_then(|rest| rest.trim().trim_end_matches('.').parse().ok()) {
                break port;
            }
        };
        // What it goes on to say is nobody's concern, but it must not stop at a full pipe.
        std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
        let mut browser = Self {
            driver,
            port,
            session: String::new(),
            _profile: tempfile::tempdir().unwrap(),
        };
        let profile = format!("--user-data-dir={}", browser._profile.path().display());
        let flags = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-dev-shm-usage",
            "--force-color-profile=srgb",
            &profile,
        ];
        let wanted = json!({"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": {"args": flags},
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
            "timeouts": {"script": PATIENCE, "pageLoad": PATIENCE},
        }}});
        let (status, made) = browser.request("POST", "/session", &wanted);
        if status != 200 {
            let message = made["value"]["message"].as_str().unwrap_or("");
            // A driver without its browser is as good as none; anything else is a failure worth seeing.
            assert!(message.contains("cannot find Chrome binary"), "no session: {made}");
            return None;
        }
        browser.session = made["value"]["sessionId"].as_str().unwrap().to_owned();
        // The page that a new window shows asks for its own things.
        browser.command("POST", "url", &json!({"url": "about:blank"}));
        browser.requested();
        Some(browser)
    }

    /// Opens a file, with a part after its name such as `#probe=…`, and waits until the page says that it is ready.
    pub fn open(&self, file: &Path, after: &str) {
        // A page with another hash only is not loaded again: something else comes between.
        self.command("POST", "url", &json!({"url": "about:blank"}));
        let url = format!("file://{}{after}", file.display());
        self.command("POST", "url", &json!({"url": url}));
        self.wait_for("document.documentElement.dataset.ready === 'yes'");
    }

    /// Goes to an address and waits until everything there is loaded.
    pub fn visit(&self, url: &str) {
        self.command("POST", "url", &json!({"url": url}));
        self.wait_for("document.readyState === 'complete'");
    }

    /// What an expression in the page comes to.
    pub fn value(&self, expression: &str) -> Value {
        let script = json!({"script": format!("return ({expression});"), "args": []});
        self.command("POST", "execute/sync", &script)
    }

    /// Waits until an expression is true in the page, checked at every frame.
    pub fn wait_for(&self, expression: &str) {
        let script = format!(
            "const done = arguments[arguments.length - 1]; const end = performance.now() + {PATIENCE} * 0.9;
             (function look() {{
               if ({expression}) return done(true);
               if (performance.now() > end) return done(false);
               setTimeout(look, 10);
             }})();"
        );
        let body = json!({"script": script, "args": []});
        let path = format!("/session/{}/execute/async", self.session);
        for tries_left in (0..NAVIGATIONS).rev() {
            let (status, answer) = self.request("POST", &path, &body);
            // A script that is looking while its page gives way to the next one ends with that page: the next one is looked at.
            if status != 200 && tries_left > 0 && answer["value"]["error"] != "invalid session id" {
                continue;
            }
            assert_eq!(status, 200, "waiting for {expression}: {answer}");
            assert_eq!(answer["value"], json!(true), "it never came to: {expression}");
            return;
        }
    }

    /// Presses keys one after another where the focus is. WebDriver's names stand for those without a character.
    pub fn press(&self, keys: &[&str]) {
        let actions: Vec<Value> = keys
            .iter()
            .flat_map(|key| {
                [
                    json!({"type": "keyDown", "value": key}),
                    json!({"type": "keyUp", "value": key}),
                ]
            })
            .collect();
        let keyboard = json!({"actions": [{"type": "key", "id": "keyboard", "actions": actions}]});
        self.command("POST", "actions", &keyboard);
    }

    /// Clicks the first element that a selector finds.
    pub fn click(&self, selector: &str) {
        let found = self.command("POST", "element", &json!({"using": "css selector", "value": selector}));
        let id = found
            .as_object()
            .unwrap()
            .values()
            .next()
            .unwrap()
            .as_str()
            .unwrap()
            .to_owned();
        self.command("POST", &format!("element/{id}/click"), &json!({}));
    }

    /// A command of the browser's own protocol.
    pub fn developer(&self, name: &str, parameters: &Value) -> Value {
        self.command("POST", "goog/cdp/execute", &json!({"cmd": name, "params": parameters}))
    }

    /// Makes the window so large, in CSS pixels, whatever the smallest window of the system is.
    pub fn resize(&self, width: u32, height: u32) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.developer("Emulation.setDeviceMetricsOverride", &size);
    }

    /// What the person's system is set to: `light` or `dark`.
    pub fn prefer(&self, scheme: &str) {
        let media = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.developer("Emulation.setEmulatedMedia", &media);
    }

    /// A picture of the window, as base64 of a PNG.
    pub fn picture(&self) -> String {
        self.command("GET", "screenshot", &Value::Null)
            .as_str()
            .unwrap()
            .to_owned()
    }

    /// What the console was told since it was last asked for.
    pub fn console(&self) -> Vec<String> {
        let entries = self.command("POST", "se/log", &json!({"type": "browser"}));
        entries
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| entry["message"].to_string())
            .collect()
    }

    /// The addresses that were asked for since this was last asked for.
    pub fn requested(&self) -> Vec<String> {
        let entries = self.command("POST", "se/log", &json!({"type": "performance"}));
        let entries = entries.as_array().unwrap().clone();
        let events = entries
            .iter()
            .map(|entry| entry["message"].as_str().unwrap().to_owned());
        let events = events.map(|event| serde_json::from_str::<Value>(&event).unwrap()["message"].clone());
        events
            .filter(|event| event["method"] == "Network.requestWillBeSent")
            .map(|event| event["params"]["request"]["url"].as_str().unwrap().to_owned())
            .collect()
    }

    /// Fails where something was complained about, or anything but this page was asked for.
    pub fn assert_quiet(&self, page: &Path) {
        assert_eq!(self.console(), Vec::<String>::new());
        let own = format!("file://{}", page.display());
        let requested = self.requested();
        let others: Vec<&String> = requested
            .iter()
            .filter(|url| *url != "about:blank" && url.split('#').next() != Some(&own))
            .collect();
        assert!(others.is_empty() && !requested.is_empty(), "{requested:?}");
    }

    fn command(&self, method: &str, path: &str, body: &Value) -> Value {
        let (status, answer) = self.request(method, &format!("/session/{}/{path}", self.session), body);
        assert_eq!(
            status,
            200,
            "{path} {}: {answer}",
            body.to_string().chars().take(300).collect::<String>()
        );
        answer["value"].clone()
    }

    fn request(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let (status, answer) = self.exchange(method, path, &body).unwrap();
        (status, serde_json::from_slice(&answer).unwrap())
    }

    /// One request; the driver keeps connections open, so the answer's length says where it ends.
    fn exchange(&self, method: &str, path: &str, body: &str) -> std::io::Result<(u16, Vec<u8>)> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        // A driver that hangs ends the test, not the patience of whoever runs it.
        stream.set_read_timeout(Some(Duration::from_millis(2 * PATIENCE)))?;
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
        );
        stream.write_all(head.as_bytes())?;
        stream.write_all(body.as_bytes())?;
        let mut answer = BufReader::new(stream);
        let mut line = String::new();
        answer.read_line(&mut line)?;
        let status = line.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
        let mut length = 0;
        loop {
            let mut line = String::new();
            answer.read_line(&mut line)?;
            if line.trim().is_empty() {
                break;
            }
            if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap_or(0);
            }
        }
        let mut body = vec![0; length];
        answer.read_exact(&mut body)?;
        Ok((status, body))
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The browser goes with its session. A test that failed has failed already: nothing more is asserted here.
        if !self.session.is_empty() {
            let _ = self.exchange("DELETE", &format!("/session/{}", self.session), "");
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
