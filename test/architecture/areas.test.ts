import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { areas } from '#areas/index.ts';

const root = new URL('../../', import.meta.url).pathname;
const endpointFiles = readdirSync(join(root, 'api/areas'), { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.endpoints.ts'),
);

/** Lines of the body of each handler, by the line on which it begins. */
function handlers(text: string): { line: number; lines: number }[] {
  const lines = text.split('\n');
  return lines.flatMap((head, at) => {
    if (!/^ {2}(?:async )?handle\(.*\{$/.test(head)) return [];
    const end = lines.findIndex((line, index) => index > at && line.startsWith('  }'));
    return [{ line: at + 1, lines: end - at - 1 }];
  });
}

describe('endpoints', () => {
  it('have handlers of at most 15 lines', () => {
    const long = endpointFiles.flatMap((file) =>
      handlers(readFileSync(join(root, 'api/areas', file), 'utf8'))
        .filter(({ lines }) => lines > 15)
        .map(({ line, lines }) => `${file}:${line} has ${lines} lines`),
    );
    expect(long.join('\n')).to.equal('');
  });

  it('hold no SQL: stores and views do', () => {
    const sql = endpointFiles.flatMap((file) =>
      readFileSync(join(root, 'api/areas', file), 'utf8')
        .split('\n')
        .flatMap((line, at) =>
          /\b(db|tx|transaction)\('|\.raw\(|\bdb\.(from|select)\(|\.db\('/.test(line) ? [`${file}:${at + 1}`] : [],
        ),
    );
    expect(sql.join('\n')).to.equal('');
  });

  it('have a summary of at most ten words, and then a description for client developers', () => {
    const unclear = areas.flatMap(({ endpoints }) =>
      endpoints.flatMap(({ operationId, summary, description }) => {
        const words = summary.split(/\s+/).length;
        if (words > 10) return [`${operationId}: a summary of ${words} words`];
        if (!/^[A-Z][a-z]+ .*[^.]$/.test(summary))
          return [`${operationId}: the summary is no imperative without a full stop`];
        if (!description || !/\.$/.test(description)) return [`${operationId}: no description in whole sentences`];
        return [];
      }),
    );
    expect(unclear.join('\n')).to.equal('');
  });
});
