// Typesets formulas for formulas.py: a line of JSON in, a line of JSON out.
const readline = require("readline");

const mathjax = require(process.argv[2] + "/node-main.js");

mathjax
  .init({
    loader: {
      load: ["input/tex-full", "output/svg", "a11y/assistive-mml", "adaptors/liteDOM"],
    },
    tex: {
      // By default an error is typeset, in red or yellow, and nobody is told.
      packages: { "[-]": ["noerrors", "noundefined"] },
      formatError: (_, error) => {
        throw error;
      },
    },
    svg: { fontCache: "local" },
  })
  .then((MathJax) => {
    const { adaptor } = MathJax.startup;
    const answer = ({ tex, display }) => {
      if (tex === undefined) return { css: adaptor.textContent(MathJax.svgStylesheet()) };
      return { html: adaptor.outerHTML(MathJax.tex2svg(tex, { display })) };
    };
    readline.createInterface({ input: process.stdin }).on("line", (line) => {
      let reply;
      try {
        reply = answer(JSON.parse(line));
      } catch (error) {
        reply = { error: error.message };
      }
      process.stdout.write(JSON.stringify(reply) + "\n");
    });
  });
