import { execFileSync } from 'node:child_process';
import { expect } from 'chai';

const PROGRAM = `
import { createLog } from '#platform/log.ts';
import { newLog } from '#operator/runtime/log.ts';
createLog('info', 'api').warn('one');
newLog('info').warn('two');
`;

describe('the logs of all processes', () => {
  it('have their level as a word, and their time, alike', () => {
    const lines = execFileSync(process.execPath, ['--input-type=module', '-e', PROGRAM], { encoding: 'utf8' }).trim();
    const parsed = lines.split('\n').map((line) => JSON.parse(line) as Record<string, string>);
    expect(parsed.map(({ level, msg }) => `${level} ${msg}`).sort()).to.deep.equal(['warn one', 'warn two']);
    for (const { time } of parsed) expect(time).to.match(/^\d{4}-\d\d-\d\dT.*Z$/);
  });
});
