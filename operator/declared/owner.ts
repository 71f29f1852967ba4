import type { ManagedBy } from '../server-environment.ts';

export type Owner = Pick<ManagedBy, 'kind' | 'namespace' | 'name'>;

/** Whether a record belongs to a resource. By its name, since a resource that is applied again has another uid. */
export const isOwnedBy = (
  { managedBy }: { managedBy?: ManagedBy | undefined },
  { kind, namespace, name }: Owner,
): boolean => managedBy?.kind === kind && managedBy.namespace === namespace && managedBy.name === name;
