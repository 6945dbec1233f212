// Light and dark: as the person's system has it, until the button says otherwise.

const theme = {
  isDark: () => (document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark",
  show() { document.getElementById("theme").textContent = theme.isDark() ? "Light" : "Dark"; },
  turn() {
    document.documentElement.dataset.theme = theme.isDark() ? "light" : "dark";
    theme.show();
  },
};

theme.show();
document.getElementById("theme").addEventListener("click", theme.turn);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", theme.show);
