import { writeFileSync } from 'node:fs';
import Mocha from 'mocha';

/** Dots, and at the end in a file for the gate: a line with the counts, then the files in which something failed. */
export default class GateReporter extends Mocha.reporters.Dot {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    const failed = new Set<string>();
    // Printed at once too: a gate that is ended early has reported its results.
    runner.on('fail', (test, error: Error) => {
      if (test.file) failed.add(test.file);
      process.stdout.write(`\n  failed: ${test.fullTitle()}: ${String(error.message).split('\n')[0]?.slice(0, 300)}\n`);
    });
    runner.once('end', () => {
      const { passes, failures } = this.stats;
      const file = process.env.GATE_COUNTS;
      if (file) writeFileSync(file, `${[`${passes} ${failures}`, ...failed].join('\n')}\n`);
    });
  }
}
