// The permissions that a Role grants and those that the audit log shows in use.
import type { KubeObject } from '#operator/runtime/kube.ts';
import type { Request } from './audit.ts';

export interface Rule {
  apiGroups: string[];
  resources: string[];
  verbs: string[];
}

export const rulesOf = (role: KubeObject): Rule[] => role.rules as Rule[];

/** `apps/deployments delete`, of the core group `pods list`. */
const grant = (group: string, resource: string, verb: string): string =>
  `${group ? `${group}/` : ''}${resource} ${verb}`;

export function granted(rules: readonly Rule[]): string[] {
  return rules.flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) => resources.flatMap((resource) => verbs.map((verb) => grant(group, resource, verb)))),
  );
}

/** An apply that makes the object needs the right to create too. */
function verbsOf({ verb, code }: Request): string[] {
  return verb === 'patch' && code === 201 ? ['patch', 'create'] : [verb];
}

export function used(requests: readonly Request[]): Set<string> {
  return new Set(
    requests.flatMap((request) => {
      const { group, resource, subresource } = request;
      const name = subresource ? `${resource}/${subresource}` : resource;
      return verbsOf(request).map((verb) => grant(group, name, verb));
    }),
  );
}
