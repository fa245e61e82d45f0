import { render, waitFor } from "@testing-library/react";
import { beforeAll, expect, test } from "vitest";
import { start } from "@/i18n";
import { colour, painted } from "./highlight";
import { grow, lex, NOTHING } from "./lex";
import { safeAddress } from "./link";
import { Markdown } from "./markdown";

// The translator of formulas is there from the first test on.
beforeAll(async () => {
  await start("en-US");
  const page = draw("$x$");
  await waitFor(() => expect(page.querySelector("math")).not.toBeNull());
});

const draw = (text: string, growing = false) =>
  render(<Markdown text={text} growing={growing} />).container;

// What a hostile page, file or model may send: research group D.
const HOSTILE = [
  "[x](javascript:alert(1))",
  "[x](JaVaScRiPt:alert(1))",
  "[x](\u0001javascript:alert(1))",
  "[x](java&#10;script:alert(1))",
  "[x](&#106;avascript:alert(1))",
  "[x](data:text/html,<script>alert(1)</script>)",
  "[x](vbscript:msgbox)",
  "[x](file:///etc/passwd)",
  "[x](myapp://open)",
  "[x](//evil.example/x)",
  "[x](/api/logout)",
  "<img src=x onerror=alert(1)>",
  "a <img src=x onerror=alert(1)> b",
  "<script>alert(1)</script>",
  '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
  '<svg><a xlink:href="javascript:alert(1)"><text>x</text></a></svg>',
  '<a href="javascript:alert(1)">x</a>',
  '<details open ontoggle="alert(1)">',
  "```html\n<script>alert(1)</script>\n```",
  "```mermaid\ngraph TD; A[<img src=x onerror=alert(1)>]\n```",
  "$\\href{javascript:alert(1)}{x}$",
  "$$\\includegraphics{http://evil.example/x.png}$$",
  "$\\style{background:url(http://evil.example)}{x}$",
  "![x](http://evil.example/track.png)",
  "![x](javascript:alert(1))",
  "[x]: javascript:alert(1)\n\n[x]",
  "| <img src=x onerror=alert(1)> |\n|---|\n| <script>alert(1)</script> |",
  "- [ ] <img src=x onerror=alert(1)>",
  "> <iframe src=//evil.example></iframe>",
  '<http://evil.example/"onmouseover=alert(1)>',
  "**<b onmouseover=alert(1)>x</b>**",
];

for (const text of HOSTILE) {
  test(`nothing in ${JSON.stringify(text)} can act`, () => {
    for (const growing of [false, true]) {
      const page = draw(text, growing);
      expect(
        page.querySelector("img, script, iframe, svg:not(.lucide), object, embed, style"),
      ).toBeNull();
      for (const element of page.querySelectorAll("*")) {
        for (const { name, value } of element.attributes) {
          expect(name).not.toMatch(/^on|^srcdoc$|^formaction$/);
          if (name === "href") expect(value).toMatch(/^(https?:\/\/|mailto:)/);
        }
      }
    }
  });
}

test("a formula that is too long is left as its source, a deep one breaks nothing", () => {
  expect(() => draw(`$$${"\\frac{".repeat(400)}x${"}{y}".repeat(400)}$$`)).not.toThrow();
  for (const depth of [700, 10_000]) {
    const page = draw(`$$${"\\frac{".repeat(depth)}x${"}{y}".repeat(depth)}$$`);
    expect(page.querySelector("math")).toBeNull();
    expect(page.querySelector("code")?.textContent).toContain("frac");
  }
});

test("formulas become MathML", () => {
  const page = draw("Energy is $E = mc^2$.\n\n$$\\frac{a}{b}$$");
  expect(page.querySelectorAll("math")).toHaveLength(2);
  expect(page.querySelector("mfrac")).not.toBeNull();
});

test("prices are no formulas", () => {
  expect(draw("It costs $410, not $495 or $5.").querySelector("code, math")).toBeNull();
});

test("only pages and mailboxes may be led to", () => {
  expect(safeAddress("https://a.example/x?y=1&z")).toBe("https://a.example/x?y=1&z");
  expect(safeAddress("mailto:a@b.example")).toBe("mailto:a@b.example");
  for (const address of [
    "",
    "x",
    "/x",
    "http:",
    "https://",
    "ftp://a.example",
    "javascript://x%0aalert(1)",
  ]) {
    expect(safeAddress(address)).toBeNull();
  }
});

test("links open elsewhere and tell nothing of us", () => {
  const link = draw("[x](https://a.example)").querySelector("a");
  expect(link?.target).toBe("_blank");
  expect(link?.rel).toContain("noopener");
});

test("a picture from elsewhere is a link to it", () => {
  const page = draw("![the cup](https://a.example/cup.png)");
  expect(page.querySelector("img")).toBeNull();
  expect(page.querySelector("a")?.textContent).toContain("the cup");
});

test("character references are the characters they name", () => {
  expect(draw("a &amp; b &lt;i&gt; &copy; &#20013;&#x6587; `&amp;`").textContent).toContain(
    "a & b <i> © 中文 &amp;",
  );
});

test("Chinese emphasis needs no space beside its punctuation", () => {
  const page = draw("**注意：**请先看**“这里”**再说。");
  expect([...page.querySelectorAll("strong")].map((one) => one.textContent)).toEqual([
    "注意：",
    "“这里”",
  ]);
});

test("a bare address ends where Chinese punctuation begins", () => {
  const page = draw("见 https://a.example/b，然后继续。");
  expect(page.querySelector("a")?.getAttribute("href")).toBe("https://a.example/b");
  expect(page.textContent).toBe("见 https://a.example/b，然后继续。");
});

test("tables, tasks and nested lists are what they are", () => {
  const page = draw(
    "| a | b |\n|--|-:|\n| 1<br>2 | 3 |\n\n- [x] done\n- [ ] open\n\n1. one\n   - two",
  );
  expect(page.querySelectorAll("td")).toHaveLength(2);
  expect(page.querySelector("td")?.querySelector("br")).not.toBeNull();
  expect(page.querySelectorAll("input[type=checkbox]")).toHaveLength(2);
  expect(page.querySelector("ol ul li")?.textContent).toBe("two");
});

test("code keeps every character", () => {
  const source = 'def f():\n    return "<b>&amp;</b>"\n';
  expect(draw(`\`\`\`py\n${source}\`\`\``).querySelector("pre")?.textContent).toBe(
    source.trimEnd(),
  );
});

test("code is coloured without losing a character", async () => {
  const source = 'def greet(name: str) -> str:\n    # 你好\n    return f"hi {name}"';
  expect(await colour(source, "py")).toBe(true);
  const lines = painted(source, "py") ?? [];
  expect(lines.map((line) => line.map((piece) => piece.text).join("")).join("\n")).toBe(source);
  const kinds = new Set(lines.flat().map((piece) => piece.kind));
  expect([...kinds]).toEqual(expect.arrayContaining(["sk", "sf", "ss", "sc"]));
  expect(await colour("x", "no-such-language")).toBe(false);
});

test("what is open in a growing text is closed for the eye", () => {
  expect(draw("some **bold wor", true).querySelector("strong")?.textContent).toBe("bold wor");
  expect(draw("```py\nprint(1", true).querySelector("pre")?.textContent).toBe("print(1");
});

const SAMPLE = `# Title

Some **bold** and \`code\`.

- a
- b

  still b

- c

1. x
2. y

\`\`\`js
let a = 1

let b = 2
\`\`\`

| a | b |
|---|---|
| 1 | 2 |

Title again
===

> quote
> more

    indented

    code

$$
x + y
$$

end`;

const shape = (tokens: readonly { type: string; raw: string }[]) =>
  tokens.map(({ type, raw }) => [type, raw]);

test("reading a growing text ends as reading it at once", () => {
  for (const step of [1, 3, 7, 50]) {
    let lexed = NOTHING;
    for (let end = step; end < SAMPLE.length + step; end += step) {
      lexed = grow(lexed, SAMPLE.slice(0, end));
    }
    expect(shape([...lexed.settled, ...lex(SAMPLE.slice(lexed.length))])).toEqual(
      shape(lex(SAMPLE)),
    );
  }
});

test("a text that is not the same any more is read anew", () => {
  const lexed = grow(grow(NOTHING, "one\n\ntwo\n\nthree"), "other");
  expect(shape(lexed.tokens)).toEqual([["paragraph", "other"]]);
});

test("of a growing text only the last block is read again", () => {
  const long = "Lorem **ipsum** dolor.\n\n".repeat(2_000);
  const before = grow(NOTHING, long);
  const after = grow(before, `${long}more`);
  expect(after.settled[0]).toBe(before.settled[0]);
  expect(long.length - before.length).toBeLessThan(100);
});
