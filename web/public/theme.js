// Sets the theme and the language before the first paint. A file of its own, because the content
// security policy allows no inline script.
(() => {
  const root = document.documentElement;
  try {
    const theme = localStorage.getItem("teahouse.theme");
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
    const size = localStorage.getItem("teahouse.text");
    if (/^1[4-8]$/.test(size || "")) root.dataset.text = size;
    if (localStorage.getItem("teahouse.motion") === "less") root.dataset.motion = "less";
    const language = localStorage.getItem("teahouse.language");
    if (language) root.lang = language;
  } catch {
    // Storage is forbidden: the system's theme is used.
  }
})();
