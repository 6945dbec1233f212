"""A React Native shop app keeps its cart without a network."""

from noise import numbered
from noise import told
from noise import weave
from scene import Scene

QUEUE = """
import { MMKV } from 'react-native-mmkv';
import type { CartOp } from './types';

const storage = new MMKV({ id: 'cart-ops' });
const KEY = 'ops.v1';

export type Entry = { seq: number; op: CartOp; at: string };

function load(): Entry[] {
  const raw = storage.getString(KEY);
  if (!raw) return [];
  try {
    return JSON.parse(raw) as Entry[];
  } catch {
    // A torn write is worth less than a working cart.
    storage.delete(KEY);
    return [];
  }
}

function save(entries: Entry[]): void {
  storage.set(KEY, JSON.stringify(entries));
}

export function enqueue(op: CartOp, now = new Date()): Entry {
  const entries = load();
  const seq = (entries.at(-1)?.seq ?? 0) + 1;
  const entry = { seq, op, at: now.toISOString() };
  save(fold([...entries, entry]));
  return entry;
}

export function peek(): Entry[] {
  return load();
}

export function drain(upTo: number): void {
  save(load().filter((entry) => entry.seq > upTo));
}

/** Folds operations on the same line: add 1, add 1, add 1 becomes add 3. */
export function fold(entries: Entry[]): Entry[] {
  const folded: Entry[] = [];
  for (const entry of entries) {
    const last = folded.at(-1);
    if (last && last.op.kind === 'add' && entry.op.kind === 'add' && last.op.sku === entry.op.sku) {
      last.op = { ...last.op, quantity: last.op.quantity + entry.op.quantity };
      last.seq = entry.seq;
    } else {
      folded.push({ ...entry });
    }
  }
  return folded;
}
"""

BANNER = """
import { StyleSheet, Text, View } from 'react-native';
import { useTheme } from '../theme';
import { t } from '../strings';

type Props = { pending: number; onRetry: () => void };

export function OfflineBanner({ pending, onRetry }: Props) {
  const theme = useTheme();
  if (pending === 0) return null;
  return (
    <View accessibilityRole="alert" style={[styles.bar, { backgroundColor: theme.banner }]}>
      <Text style={styles.text}>{t('cart.offline.pending', { count: pending })}</Text>
      <Text accessibilityRole="button" onPress={onRetry} style={styles.action}>
        {t('cart.offline.retry')}
      </Text>
    </View>
  );
}

const styles = StyleSheet.create({
  bar: { flexDirection: 'row', padding: 12, borderRadius: 8 },
  text: { flex: 1 },
  action: { fontWeight: '600' },
});
"""


def jest(d, count, facts=(), at=0.6):
    return weave(d.lines(count, [
        "PASS  src/<search|profile|catalogue|checkout|login|address>/__tests__/<list|form|hook|screen|format>.test.ts<x|> (<1-9>.<100-999> s)",
        "  ✓ <renders|keeps|ignores|formats|restores|rejects> <an empty list|the last tab|unknown fields|prices with two decimals|a stale token|the keyboard> (<2-180> ms)",
        "  ✓ <renders|keeps|ignores|formats|restores|rejects> <a long name|the scroll position|duplicate taps|dates of next year|a missing image> (<2-180> ms)",
        "  console.warn  <VirtualizedLists should never be nested|Each child in a list should have a unique key|An update was not wrapped in act> (src/<search|profile|catalogue>/<List|Row|Card>.tsx:<20-220>)",
    ]), *facts, at=at)


def build() -> Scene:
    s = Scene(
        "feature-offline-cart", "feature",
        "A grocery app in React Native gets a cart that works without a network. Storage and merge strategy are each decided and "
        "reversed, a limit changes twice, two files have nearly the same name, and one early native error is solved while another test stays red.",
        call_prefix="call_",
    )
    d = s.dice
    key = s.secret("hk7", "nope4", "basket", "1111key2222")
    s.system("You are an assistant for mobile development. You can run commands, read and edit files, and take screenshots of a simulator. Keep answers short.")
    s.user("hey! we need the cart to survive tunnels and elevators. repo is basket-app (expo bare, RN 0.76, TS strict). ground rules before you touch anything: min iOS stays 15.1, no new native modules without asking me first, every visible string goes through strings/en.json, and never commit .snap files, CI regenerates them. have a look around and propose something")
    s.do("Looking at what the cart does today.",
         ("run_command", {"cmd": "git -C basket-app log --oneline | head -8 && ls basket-app/src/cart && cat basket-app/.env.staging"},
          "\n".join(d.lines(8, ["<#7> <cart|login|search|ci>: <bump|fix|move|drop> <hermes flag|price rounding|deep link|old api client|lint rule>"])) + "\nCartScreen.tsx\nLineRow.tsx\napi.ts\nqueue.ts\ntypes.ts\nuseCart.ts\n\nAPI_BASE=https://api-stage.example.com\nAPI_KEY=" + key + "\nFLAGS_URL=https://flags.example.com/basket\n"),
         ("search", {"query": "cart/queue|AsyncStorage|/v2/cart", "glob": "src/**"},
          weave(sorted(d.lines(24, ["src/<search|profile|catalogue|login>/<store|hook|screen>.ts<x|>:<8-300>:  <await AsyncStorage.getItem(|AsyncStorage.setItem(|import AsyncStorage from>"])), "src/checkout/submit.ts:14:import { pendingJobs } from '../cart/queue';", "src/cart/api.ts:31:  return post('/v2/cart/sync', body);")))
    s.say("What I see: the cart lives in memory and is pushed whole to `/v2/cart/sync`. There is already a `src/cart/queue.ts`, but it is the old payment retry queue and checkout imports it, so I would leave it alone and add `src/cart/opQueue.ts` beside it.\n\nProposal: keep the cart in AsyncStorage, push on reconnect, last write wins per line.")
    s.user("yeah queue.ts is cursed, do NOT touch it, checkout depends on its quirks. opQueue.ts is fine. but last write wins? we tried that in the spring: two phones in one household and somebody's milk vanished every week. send operations instead and let the server replay them. backend has an endpoint for it since tuesday: POST /v3/cart/ops")
    s.say("Then an operation log: every tap is an operation (add, remove, set), queued locally, replayed by the server in order through `POST /v3/cart/ops`. Last write wins is off the table because quantities from two devices got lost. How many operations may pile up before we refuse?")
    s.user("200 should do. hm no, big weekly shops... say 500. storage: is AsyncStorage ok with that?")
    s.do("Measuring instead of guessing.",
         ("run_command", {"cmd": "yarn bench:storage --ops 500 --devices pixel3a,iphone11"},
          weave(d.lines(30, ["<pixel3a|iphone11> <AsyncStorage|MMKV> <write|read> n=<50-500> p50=<1-9>.<0-9>ms p95=<11-90>.<0-9>ms", "<pixel3a|iphone11> warmup <+1>/40", "<pixel3a|iphone11> gc pause <2-40>ms"]), "pixel3a AsyncStorage write n=500 p95=412.6ms (jank: 31 frames)", "pixel3a MMKV write n=500 p95=3.1ms (jank: 0 frames)", "note: AsyncStorage on Android is capped at 6 MB for the whole app; basket-app uses 4.9 MB already")))
    s.say("AsyncStorage is the wrong place: 412.6 ms at the 95th percentile on a Pixel 3a, and the app already uses 4.9 MB of the 6 MB it gets on Android. MMKV takes 3.1 ms. It is a native module, though, so this needs your yes.")
    s.user("ok MMKV approved, that one only. and make it 300 ops, backend just told me their batch limit is 300. final.")
    s.do("Adding it.",
         ("run_command", {"cmd": "yarn add react-native-mmkv@3.2.0 && npx pod-install && yarn ios --simulator 'iPhone 15'"},
          weave(d.lines(36, ["➤ YN00<00|13|02|07>: │ <fetching|linking|building> <metro|hermes|babel|jest|eslint>-<core|config|runtime|plugin>@npm:<1-29>.<0-19>.<0-9>", "Installing <React-Core|Yoga|hermes-engine|RCT-Folly|glog|fmt> (<0-12>.<0-80>.<0-9>)", "▸ Compiling <RCTView|RNScreen|Yoga|FBString|JSIExecutor>.<mm|cpp|m>"]), "Invariant Violation: TurboModuleRegistry.getEnforcing(...): 'MmkvCxx' could not be found", "  at createMMKV (node_modules/react-native-mmkv/src/createMMKV.ts:18:37)", at=0.95)))
    s.do("The module needs the new architecture, which is off in the Podfile.",
         ("edit", {"path": "ios/Podfile", "find": "ENV['RCT_NEW_ARCH_ENABLED'] = '0'", "replace": "ENV['RCT_NEW_ARCH_ENABLED'] = '1'"}, "ok, 1 edit"),
         ("run_command", {"cmd": "cd ios && rm -rf build && pod install && cd .. && yarn ios"}, "Pod installation complete! 61 dependencies, 72 total pods\n▸ Build Succeeded\ninfo Launching org.example.basket on iPhone 15"))
    s.do("Runs. Writing the queue.",
         ("write", {"path": "src/cart/opQueue.ts", "text": QUEUE.strip()}, f"created src/cart/opQueue.ts ({len(QUEUE.strip().splitlines())} lines)"),
         ("run_command", {"cmd": "yarn jest src/cart && git add -A && git commit -qm 'cart: queue of operations'"}, jest(d, 12, ["PASS  src/cart/__tests__/opQueue.test.ts", "  ✓ folds three adds into one (4 ms)", "  ✓ forgets a torn write (3 ms)"])))
    s.say("The queue is in, tests pass: adds are folded, a torn write is forgotten.")
    s.user("nice. product stuff: flag name is offline_cart_v1, off by default, we go to 5 % with release 6.14 and look at it for a week. promo codes offline: legal hasn't answered whether we may show a discount we can't check, so no promo entry while offline until they do. ask me again before 6.14 is cut")
    s.say("Noted: `offline_cart_v1` stays off by default, 5 % in 6.14. No promo codes while offline; the question to legal is open and I will ask again before 6.14 is cut. I also owe the backend people a word: as soon as the app sends the `X-Op-Base` header, I post in #cart-api so that they switch on the check. Not sent yet.")
    s.user("right. banner: design first said #FFB020, forget that, use the token warning.subtle so that dark mode works")
    # Newer half.
    s.do("", ("write", {"path": "src/cart/OfflineBanner.tsx", "text": BANNER.strip()}, f"created src/cart/OfflineBanner.tsx ({len(BANNER.strip().splitlines())} lines)"))
    s.do("", ("run_command", {"cmd": "yarn tsc --noEmit"}, "src/cart/OfflineBanner.tsx(12,74): error TS2339: Property 'banner' does not exist on type 'Theme'.\nFound 1 error."))
    s.do("", ("read", {"path": "src/theme/index.ts"}, numbered("export const light = {\n" + "\n".join(d.fill(f"  '{part}.{tone}': '#<#6>',") for part in ("surface", "text", "border", "accent", "info", "success") for tone in ("default", "subtle", "strong", "muted")) + "\n};\n\nexport type Theme = typeof light;\n")))
    s.do("The theme is keyed by token, so the bar asks for its token.", ("edit", {"path": "src/cart/OfflineBanner.tsx", "find": "theme.banner", "replace": "theme[tokens.pendingBar]"}, "ok, 1 edit"),
         ("edit", {"path": "src/theme/tokens.ts", "find": "export const tokens = {", "replace": "export const tokens = {\n  pendingBar: 'warning.subtle',"}, "ok, 1 edit"),
         ("run_command", {"cmd": "yarn tsc --noEmit && yarn eslint src/cart"}, weave(d.lines(14, ["src/<search|profile|catalogue|login>/<List|Row|Card|Form>.tsx <10-300>:<2-40> warning  <Unexpected console statement (no-console)|React Hook useEffect has a missing dependency (react-hooks/exhaustive-deps)|Prefer named export (import/prefer-default)>"]), "src/cart: clean") + "\nDone in 9.41s."))
    s.say("Types and lint are clean for src/cart; the warnings elsewhere are old.")
    s.do("", ("screenshot", {"device": "iPhone 15", "screen": "cart", "network": "off"}, told({"file": "/tmp/shots/cart-offline-light.png", "width": 1179, "height": 2556, "text_found": ["Basket", "3 changes waiting", "Retry", "Oat milk 1 l", "Rye bread", "Total 14.20"]})),
         ("screenshot", {"device": "iPhone 15", "screen": "cart", "network": "off", "appearance": "dark"}, told({"file": "/tmp/shots/cart-offline-dark.png", "width": 1179, "height": 2556, "text_found": ["Basket", "3 changes waiting", "Retry", "Oat milk 1 l", "Rye bread", "Total 14.20"]})))
    s.say("Banner stands in light and dark. Next the sender: `src/cart/flush.ts`, called on reconnect and on foreground.")
    s.user("go. exponential backoff please, cap at 2 minutes")
    s.do("", ("write", {"path": "src/cart/flush.ts", "text": "import { AppState } from 'react-native';\nimport NetInfo from '@react-native-community/netinfo';\nimport { post } from './api';\nimport { drain, peek } from './opQueue';\n\nconst FIRST_MS = 1_000;\nconst CAP_MS = 120_000;\n\nlet wait = FIRST_MS;\nlet timer: ReturnType<typeof setTimeout> | undefined;\n\nexport async function flush(): Promise<void> {\n  const batch = peek();\n  if (batch.length === 0) return;\n  const answer = await post(batch);\n  if (answer.ok) {\n    drain(batch.at(-1)!.seq);\n    wait = FIRST_MS;\n    return;\n  }\n  clearTimeout(timer);\n  timer = setTimeout(() => void flush(), wait);\n  wait = Math.min(wait * 2, CAP_MS);\n}\n\nNetInfo.addEventListener((state) => state.isConnected && void flush());\nAppState.addEventListener('change', (state) => state === 'active' && void flush());\n"}, "created src/cart/flush.ts (27 lines)"))
    s.do("", ("run_command", {"cmd": "yarn jest --coverage"}, jest(d, 100, ["PASS  src/cart/__tests__/flush.test.ts", "  ✓ waits 1 s, 2 s, 4 s and never more than 120 s (11 ms)", "  ✓ drains only what the server took (6 ms)"]) + "\n\nTest Suites: 84 passed, 84 total\nTests:       611 passed, 611 total\nSnapshots:   19 written"))
    s.do("Nineteen snapshots were written by the run; taking them out of the index.", ("run_command", {"cmd": "git restore --staged '*.snap' && git clean -fdq -- '**/__snapshots__' && git status -s"}, " M src/theme/tokens.ts\n?? src/cart/OfflineBanner.tsx\n?? src/cart/flush.ts"))
    s.say("Sender done, backoff from 1 s to 120 s. 611 tests pass.")
    s.user("e2e on both platforms please")
    s.do("", ("run_command", {"cmd": "yarn detox test -c ios.sim.release e2e/cart"},
         weave(d.log(44, "2026-05-06T14:20:03", (200, 1900), ["detox[4471] i <tap|typeText|scrollTo|waitFor> #<cart-row|search-field|total|retry|banner>-<0-9> (<40-900>ms)", "detox[4471] i sync <idle|network busy|animation busy>"]), "cart-offline.e2e.ts ✓ 7 of 7", at=0.97)))
    s.do("", ("run_command", {"cmd": "yarn detox test -c android.emu.release e2e/cart --api 28,34"},
         weave(d.log(58, "2026-05-06T14:31:40", (200, 1900), ["detox[4471] i <tap|typeText|scrollTo|waitFor> #<cart-row|search-field|total|retry|banner>-<0-9> (<40-900>ms)", "adb[902] W <ActivityManager|Choreographer|OpenGLRenderer>: <slow operation|skipped frames|context lost> <12-900>"]), "API 34: cart-offline.e2e.ts ✓ 7 of 7", "API 28: cart-offline.e2e.ts ✕ 'keeps changes over a cold start': expected #total to read 14.20, it read 0.00 (cold start reads the store before it is open)", at=0.8)))
    s.say("iOS is green. Android API 34 is green, API 28 is not: after a cold start the total reads 0.00, because the screen reads the store before it is open. That is the one open bug; I would make the first read wait for the store.")
    s.user("yep do that next. also drop the console.time lines you left in useCart.ts, they show up in release logs")
    s.do("", ("search", {"query": "console.time", "glob": "src/cart/**"}, "src/cart/useCart.ts:41:  console.time('merge');\nsrc/cart/useCart.ts:58:  console.timeEnd('merge');"))

    s.bank_description = "Rules of the user, two reversed decisions, a limit that changed twice, a file that must not be touched, and what is still owed before release 6.14."
    s.ask("recall-op-limit", "recall", "How many operations may wait in the queue, and where does that number come from?", [("300 ops", "300 operations", "limit of 300", "batch limit is 300"), ("batch limit", "backend's batch", "batch size of the backend")], [("200 should do", "200 operations", "limit of 200"), ("say 500", "500 operations", "limit of 500")])
    s.ask("recall-endpoint", "recall", "Which endpoint takes the cart's changes?", ["/v3/cart/ops"], ["/v2/cart/sync"])
    s.ask("recall-colour", "recall", "Which design token colours the bar that shows waiting changes?", ["warning.subtle"], ["#FFB020"])
    s.ask("recall-rules", "recall", "Which standing rules did the user give at the start about platform, native modules, texts and test files?", [("iOS stays 15.1", "iOS 15.1", "minimum iOS 15.1"), ("no new native modules", "native modules need approval", "native module without asking"), "strings/en.json", (".snap files", "commit .snap", "snapshots are not committed", "never commit snapshots")])
    s.ask("artifact-queue-file", "artifact", "Which file holds the new queue, and which file with a similar name must be left alone, and why?", ["src/cart/opQueue.ts", "src/cart/queue.ts", ("checkout imports it", "checkout depends on", "imported by checkout", "used by checkout")])
    s.ask("artifact-new-files", "artifact", "Which files were made for the bar and for sending the queue?", ["src/cart/OfflineBanner.tsx", "src/cart/flush.ts"])
    s.ask("artifact-native", "artifact", "Which native module was added and which build setting had to change for it?", ["react-native-mmkv", ("RCT_NEW_ARCH_ENABLED", "new architecture", "new arch")])
    s.ask("decision-storage", "decision", "Where are waiting operations stored, and what ruled out the first choice?", ["MMKV", ("412.6 ms", "412.6ms", "412,6 ms"), ("6 MB", "6MB", "six megabytes")], [("keep the cart in AsyncStorage", "stored in AsyncStorage", "uses AsyncStorage for the queue")])
    s.ask("decision-merge", "decision", "How are changes of two devices brought together, and why not the simpler way?", [("operation log", "send operations", "replay operations", "operations are replayed"), ("quantities from two devices got lost", "two phones in one household", "lost quantities", "quantities lost")], [("push on reconnect, last write wins", "last write wins per line", "last-write-wins per line")])
    s.ask("continuation-open-bug", "continuation", "Which end-to-end failure is open, and what is to be done about it?", [("API 28", "Android API level 28", "Android 9"), ("cold start", "cold-start", "after a cold launch")], [("MmkvCxx", "TurboModuleRegistry", "could not be found")])
    s.ask("continuation-release", "continuation", "Under which flag and to what share is this released, and in which release?", ["offline_cart_v1", ("5 %", "to 5%", "at 5%", "5% of", "five percent"), ("release 6.14", "in 6.14", "version 6.14")])
    s.ask("continuation-owed", "continuation", "What does the assistant still owe the backend team, and which question to legal must come up again?", ["#cart-api", "X-Op-Base", ("promo codes", "promo code", "promo entry", "promotional codes")])
    return s
