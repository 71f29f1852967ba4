// The text of api/client/addresses: where each operation of an area is.
import { type DescribedArea, type Placed, successOf } from './described.ts';
import { typeName, valueName } from './operations.ts';

export const ADDRESS = `/** Method, path below /api/v1, and how the answer is read; \`open\` needs no credential. */
export interface Address {
  readonly method: string;
  readonly path: string;
  readonly answer: 'json' | 'bytes' | 'none' | 'events';
  readonly open?: boolean;
}
`;

/** The file of one area. */
export function addressesText({ slug, operations }: DescribedArea): string {
  return [
    `import type { ${typeName(slug)} } from '../operations/${slug}.ts';`,
    "import type { Address } from './address.ts';",
    `\nexport const ${valueName(slug)} = {\n${operations.map(address).join('\n')}\n} as const satisfies Record<keyof ${typeName(slug)}, Address>;\n`,
  ].join('\n');
}

/** The file that joins all areas. */
export function addressesIndex(areas: readonly DescribedArea[]): string {
  const slugs = areas.map(({ slug }) => slug).sort();
  return [
    ...slugs.map((slug) => `import { ${valueName(slug)} } from './${slug}.ts';`),
    "\nexport type { Address } from './address.ts';",
    `\n/** Where each operation is. */\nexport const addresses = {\n${slugs.map((slug) => `...${valueName(slug)},`).join('\n')}\n};\n`,
  ].join('\n');
}

function address({ path, method, operation }: Placed): string {
  const content = successOf(operation.responses)?.content;
  const kinds = Object.keys(content ?? {});
  const answer = kinds.length === 0 ? 'none' : kinds.includes('text/event-stream') ? 'events' : 'bytes';
  const kind = kinds.includes('application/json') ? 'json' : answer;
  const open = operation.security.length === 0 ? ', open: true' : '';
  return `${operation.operationId}: { method: '${method.toUpperCase()}', path: '${path}', answer: '${kind}'${open} },`;
}
