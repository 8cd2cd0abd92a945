extension ReportPage {
    /// The page's look: light, dark and on paper.
    ///
    /// The tones are Okabe and Ito's, which people who see few colours can tell apart; in the dark they are lighter.
    static let style = """
        :root {
          color-scheme: light dark;
          --page: #f6f6f4; --card: #ffffff; --ink: #1b1d21; --soft: #5a6069; --line: #dddfe2;
          --heat: 0 114 178;
          --tone0: #0072b2; --tone1: #d55e00; --tone2: #56b4e9; --tone3: #009e73; --tone4: #cc79a7; --tone5: #8a8f98;
          --tone6: #1b1d21;
        }
        @media (prefers-color-scheme: dark) {
          :root:not(.paper) {
            --page: #121417; --card: #1b1e22; --ink: #e9eaec; --soft: #a3a9b3; --line: #363b42;
            --heat: 40 130 200;
            --tone0: #4da3e0; --tone1: #f08a3c; --tone2: #9fd6f7; --tone3: #2fc79b; --tone4: #e3a3c6; --tone5: #868d97;
            --tone6: #e9eaec;
          }
        }
        * { box-sizing: border-box; }
        body {
          margin: 0 auto; max-width: 84rem; padding: 1.5rem; background: var(--page); color: var(--ink);
          font: 1rem/1.5 system-ui, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif;
        }
        header { display: flex; flex-wrap: wrap; gap: 1rem; justify-content: space-between; align-items: end; }
        h1 { margin: 0; font-size: 1.6rem; font-weight: 600; line-height: 1.2; overflow-wrap: anywhere; }
        h2 { margin: 0; font-size: 1.1rem; font-weight: 600; }
        p { margin: .25rem 0; }
        .remark, footer { color: var(--soft); font-size: .875rem; }
        .chooser { margin: 0; }
        .chooser label { color: var(--soft); font-size: .875rem; margin-inline-end: .5rem; }
        select {
          font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: .4rem;
          padding: .3rem .5rem;
        }
        .tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: .75rem; margin: 1.25rem 0; }
        .tile { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; padding: .8rem 1rem; }
        .tile dt { color: var(--soft); font-size: .875rem; }
        .tile dd { margin: 0; }
        .tile dd:first-of-type { font-size: 1.3rem; line-height: 1.3; overflow-wrap: anywhere; font-weight: 600; font-variant-numeric: tabular-nums; }
        .tile dd.remark { font-size: .8rem; }
        .cards { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 1rem; }
        .card { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; padding: 1.1rem 1.25rem; min-width: 0; }
        .wide { grid-column: 1 / -1; }
        @media (max-width: 60rem) { .cards { grid-template-columns: minmax(0, 1fr); } }
        .chart { display: none; position: relative; height: 19rem; margin: .75rem 0; }
        .drawn .chart { display: block; }
        [hidden], .drawn .chart[hidden] { display: none; }
        .empty, .nothing { color: var(--soft); padding: 1.5rem 0; }
        .nothing { font-size: 1.4rem; padding-bottom: 0; color: var(--ink); }
        summary { cursor: pointer; color: var(--soft); font-size: .875rem; }
        summary:focus-visible, select:focus-visible, .scroll:focus-visible { outline: 2px solid var(--tone0); outline-offset: 2px; }
        .scroll { overflow: auto; max-height: 28rem; margin-top: .75rem; }
        table { border-collapse: collapse; width: 100%; font-size: .875rem; font-variant-numeric: tabular-nums; }
        caption { text-align: start; color: var(--soft); padding-bottom: .4rem; }
        th, td { text-align: start; font-weight: 400; padding: .3rem .6rem; border-bottom: 1px solid var(--line); }
        thead th { position: sticky; top: 0; background: var(--card); font-weight: 600; vertical-align: bottom; }
        tbody th { overflow-wrap: anywhere; }
        .number { text-align: end; white-space: nowrap; }
        time { white-space: nowrap; }
        .cohorts th, .cohorts td { padding: .3rem .2rem; }
        .cohorts th { white-space: nowrap; }
        .scroll:has(.cohorts) { max-height: none; }
        .cohorts thead th.number:nth-child(n + 3) { text-align: center; }
        .heat { text-align: center; border: 1px solid var(--card); min-width: 2.2rem; print-color-adjust: exact; }
        .heat1 { background: rgb(var(--heat) / .07); } .heat2 { background: rgb(var(--heat) / .14); }
        .heat3 { background: rgb(var(--heat) / .21); } .heat4 { background: rgb(var(--heat) / .28); }
        .heat5 { background: rgb(var(--heat) / .35); } .heat6 { background: rgb(var(--heat) / .42); }
        .heat7 { background: rgb(var(--heat) / .49); } .heat8 { background: rgb(var(--heat) / .56); }
        .heat9 { background: rgb(var(--heat) / .63); } .heat10 { background: rgb(var(--heat) / .7); }
        footer { margin-top: 1.5rem; }
        @media print {
          body { max-width: none; padding: 0; background: none; font-size: 10pt; }
          .card, .tile { break-inside: avoid; border-color: #bbb; }
          .scroll { overflow: visible; max-height: none; }
          details:not([open]) { display: none; }
          .chooser select { appearance: none; border: 0; padding: 0; }
          thead th { position: static; }
          /* 24 months beside each other: a page that is too wide would be shrunk, and its charts with it. */
          .cohorts { font-size: 6.5pt; }
          .cohorts th { white-space: normal; }
          .cohorts th, .cohorts td { padding: .15rem .1rem; }
          .heat { min-width: 0; }
        }
        """
}
