/** Fields that no resource declares. */
const OWN = new Set(['managedBy', 'force', 'libraryId', 'kind', 'priority', 'refreshHours', 'enabled']);

/** Names of the fields that the operator sends for a resource: people cannot change them. */
export const declaredFields = (body: object): string[] =>
  Object.entries(body)
    .filter(([name, value]) => value !== undefined && value !== null && !OWN.has(name))
    .map(([name]) => name);
