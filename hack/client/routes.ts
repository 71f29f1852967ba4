// The text of api/client/areas/routes.ts: the method and path of each operation, the only generated code that runs.
import { type DescribedArea, type Placed, successOf } from './described.ts';

const DOC = `/**
 * Method and path below /api/v1, then \`bytes\` where the response is neither JSON nor empty (204), and \`open\` where no
 * credential is needed. A text for each operation keeps the bundle of a page small.
 */`;

export function routesText(areas: readonly DescribedArea[]): string {
  const lines = areas.flatMap(({ slug, operations }) => [`// ${slug}`, ...operations.map(route)]);
  return [
    "import type { Operations } from './index.ts';",
    `\n${DOC}\nexport const routes = {\n${lines.join('\n')}\n} as const satisfies Record<keyof Operations, string>;\n`,
  ].join('\n');
}

function route({ path, method, operation }: Placed): string {
  const kinds = Object.keys(successOf(operation.responses)?.content ?? {});
  const words = [
    method.toUpperCase(),
    path,
    ...(kinds.length === 0 || kinds.includes('application/json') ? [] : ['bytes']),
    ...(operation.security.length === 0 ? ['open'] : []),
  ];
  return `${operation.operationId}: '${words.join(' ')}',`;
}
