// The API's description as the generator of the typed client reads it: operations by area, and the records they name.
import { areas } from '#areas/index.ts';
import { fullVersion } from '#areas/server/public.ts';
import type { Schema } from '#kernel/json-schema.ts';
import { openApi } from '#kernel/openapi.ts';

/** Named schemas by their names. */
export type Records = Record<string, Schema>;

export interface Parameter {
  in: string;
  name: string;
  required?: boolean;
  description?: string;
  schema: Schema;
}

export type Content = Record<string, { schema: Schema }>;

export interface Operation {
  operationId: string;
  summary: string;
  tags: [string];
  security: unknown[];
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content: Content };
  responses: Record<string, { content?: Content }>;
}

export interface Placed {
  path: string;
  method: string;
  operation: Operation;
}

export interface DescribedArea {
  slug: string;
  /** By operationId. */
  operations: Placed[];
}

export interface Described {
  areas: DescribedArea[];
  records: Records;
}

interface Description {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Records };
}

/** Every served area, in the order of the description, and every named schema that is no error. */
export function described(): Described {
  const { paths, components } = openApi(areas, fullVersion) as Description;
  const placed = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  placed.sort((a, b) => (a.operation.operationId < b.operation.operationId ? -1 : 1));
  const byArea = Map.groupBy(placed, ({ operation }) => operation.tags[0]);
  const schemas = Object.entries(components.schemas).filter(([name]) => !name.startsWith('Error_'));
  return {
    areas: areas.map(({ slug, name }) => ({ slug, operations: byArea.get(name) ?? [] })),
    records: Object.fromEntries(schemas),
  };
}

/** The successful response. */
export function successOf(responses: Operation['responses']): { content?: Content } | undefined {
  return Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1];
}

/** A reference to a named schema, with the description of its place. */
export const refTo = (name: string, { description }: Schema = {}): Schema => ({
  $ref: `#/components/schemas/${name}`,
  ...(description && { description }),
});

/** The name of the referenced schema. */
export const nameOf = (reference: string): string => reference.slice(reference.lastIndexOf('/') + 1);

/** Every named schema that a part of the description refers to. */
export const namesIn = (part: unknown): string[] =>
  [...JSON.stringify(part ?? null).matchAll(/"\$ref":"[^"]*\/(\w+)"/g)].map(([, name = '']) => name);
