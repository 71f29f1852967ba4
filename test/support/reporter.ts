import { writeFileSync } from 'node:fs';
import Mocha from 'mocha';

/** Dots, and at the end the counts in a file for the gate to add up. */
export default class GateReporter extends Mocha.reporters.Dot {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    runner.once('end', () => {
      const { passes, failures } = this.stats;
      const file = process.env.GATE_COUNTS;
      if (file) writeFileSync(file, `${passes} ${failures}\n`);
    });
  }
}
