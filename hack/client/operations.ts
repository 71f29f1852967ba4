// The operations of an area in its file of api/client/areas, and the index of all areas.
import type { Schema } from '#kernel/json-schema.ts';
import { type DescribedArea, type Operation, type Parameter, successOf } from './described.ts';
import { isPage } from './requests.ts';
import { comment, membersOf, objectOf, typeOf } from './types.ts';

/** `server-account` as the name of a type. */
export const typeName = (slug: string): string =>
  `${slug.replaceAll(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase())}Operations`;

/** The operations of one area. */
export const operationsText = ({ slug, operations }: DescribedArea): string =>
  `export interface ${typeName(slug)} {\n${operations.map(({ operation }) => signature(operation)).join('\n')}\n}\n`;

/** The index of all files, which joins the operations of all areas. */
export function indexText(areas: readonly DescribedArea[], files: readonly string[]): string {
  const slugs = areas.map(({ slug }) => slug).sort();
  return [
    ...slugs.map((slug) => `import type { ${typeName(slug)} } from './${slug}.ts';`),
    '',
    ...files.toSorted().map((file) => `export type * from './${file}.ts';`),
    `\n/** The request and response of each operation. */\nexport interface Operations extends ${slugs.map(typeName).join(', ')} {}\n`,
  ].join('\n');
}

function signature({ operationId, summary, parameters = [], requestBody, responses }: Operation): string {
  const params = parameters.filter((one) => one.in === 'path');
  const query = parameters.find((one) => one.in === 'query');
  const parts = [
    ...(params.length > 0 ? [`params: ${objectOf(membersOf(objectWith(params)))};`] : []),
    ...(query ? [`query${query.required ? '' : '?'}: ${typeOf(query.schema)};`] : []),
    ...bodyPart(requestBody),
    `response: ${responseType(responses)};`,
  ];
  return `${comment(summary)}\n${operationId}: { ${parts.join('\n')} };`;
}

const objectWith = (parameters: readonly Parameter[]): Schema => ({
  properties: Object.fromEntries(
    parameters.map(({ name, schema, description }) => [name, { ...schema, ...(description && { description }) }]),
  ),
  required: parameters.map(({ name }) => name),
});

function bodyPart(requestBody: Operation['requestBody']): string[] {
  if (!requestBody) return [];
  const types = Object.entries(requestBody.content).map(([media, { schema }]) => {
    if (media === 'application/json') return typeOf(schema);
    return media === 'multipart/form-data' ? 'FormData' : 'Blob | Uint8Array';
  });
  return [`body${requestBody.required === false ? '?' : ''}: ${[...new Set(types)].join(' | ')};`];
}

function responseType(responses: Operation['responses']): string {
  const content = successOf(responses)?.content;
  const schema = content?.['application/json']?.schema;
  if (!schema) return content ? 'Response' : 'undefined';
  const items = isPage(schema) && schema.properties?.['items']?.items;
  return items ? `PageOf<${typeOf(items)}>` : typeOf(schema);
}
