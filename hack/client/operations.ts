// The text of api/client/operations: what each operation of an area takes and answers, and where it is.
import { type DescribedArea, type Operation, type Parameter, type Placed, successOf } from './described.ts';
import { comment, objectOf, typeOf } from './types.ts';

export const ADDRESS = `/** Method, path below /api/v1, and how the answer is read; \`open\` needs no credential. */
export interface Address {
  readonly method: string;
  readonly path: string;
  readonly answer: 'json' | 'bytes' | 'none' | 'events';
  readonly open?: boolean;
}
`;

/** `server-account` as the name of a type. */
const typeName = (slug: string): string =>
  `${slug.replaceAll(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase())}Operations`;

/** `server-account` as the name of a value. */
const valueName = (slug: string): string => typeName(slug).replace(/^\w/, (letter) => letter.toLowerCase());

/** The file of one area. */
export function areaText({ slug, operations }: DescribedArea): string {
  const [type, value] = [typeName(slug), valueName(slug)];
  return [
    "import type { Address } from './address.ts';",
    `\nexport interface ${type} {\n${operations.map(({ operation }) => signature(operation)).join('\n')}\n}`,
    `\nexport const ${value} = {\n${operations.map(address).join('\n')}\n} as const satisfies Record<keyof ${type}, Address>;\n`,
  ].join('\n');
}

/** The file that joins all areas. */
export function indexText(areas: readonly DescribedArea[]): string {
  const slugs = areas.map(({ slug }) => slug).sort();
  const imports = slugs.map((slug) => `import { type ${typeName(slug)}, ${valueName(slug)} } from './${slug}.ts';`);
  return [
    ...imports,
    "\nexport type { Address } from './address.ts';",
    `\n/** What each operation takes and answers. */\nexport interface Operations extends ${slugs.map(typeName).join(', ')} {}`,
    `\n/** Where each operation is. */\nexport const operations = {\n${slugs.map((slug) => `...${valueName(slug)},`).join('\n')}\n};\n`,
  ].join('\n');
}
function signature({ operationId, summary, parameters = [], requestBody, responses }: Operation): string {
  const parts = [
    ...askedPart(
      'params',
      parameters.filter((one) => one.in === 'path'),
    ),
    ...askedPart(
      'query',
      parameters.filter((one) => one.in === 'query'),
    ),
    ...bodyPart(requestBody),
    `answer: ${answerType(responses)};`,
  ];
  return `${comment(summary)}\n${operationId}: { ${parts.join('\n')} };`;
}

function askedPart(part: string, parameters: readonly Parameter[]): string[] {
  if (parameters.length === 0) return [];
  const members = parameters.map(({ name, required, schema, description }) => {
    const optional = required ? '' : '?';
    return `${comment(description)}${JSON.stringify(name)}${optional}: ${part === 'query' ? wordType(schema) : typeOf(schema)};`;
  });
  return [`${part}${parameters.some((one) => one.required) ? '' : '?'}: ${objectOf(members)};`];
}

/** What is text in an address may be given as what it means. */
function wordType(schema: Parameter['schema']): string {
  const values = (schema.enum ?? []).map(String);
  if (values.length === 2 && values.includes('true') && values.includes('false')) return 'boolean';
  if (values.length > 0 && values.every((value) => /^\d+$/.test(value)))
    return values.map((value) => `${value} | "${value}"`).join(' | ');
  const type = typeOf(schema);
  return type === 'string' ? 'string | readonly string[]' : type;
}

function bodyPart(requestBody: Operation['requestBody']): string[] {
  if (!requestBody) return [];
  const types = Object.entries(requestBody.content).map(([media, { schema }]) => {
    if (media === 'application/json') return typeOf(schema);
    return media === 'multipart/form-data' ? 'FormData' : 'Blob | Uint8Array';
  });
  return [`body${requestBody.required === false ? '?' : ''}: ${[...new Set(types)].join(' | ')};`];
}

function answerType(responses: Operation['responses']): string {
  const content = successOf(responses)?.content;
  const schema = content?.['application/json']?.schema;
  if (schema) return typeOf(schema);
  return content ? 'Response' : 'undefined';
}

function address({ path, method, operation }: Placed): string {
  const content = successOf(operation.responses)?.content;
  const kinds = Object.keys(content ?? {});
  const answer = kinds.length === 0 ? 'none' : kinds.includes('text/event-stream') ? 'events' : 'bytes';
  const kind = kinds.includes('application/json') ? 'json' : answer;
  const open = operation.security.length === 0 ? ', open: true' : '';
  return `${operation.operationId}: { method: '${method.toUpperCase()}', path: '${path}', answer: '${kind}'${open} },`;
}
