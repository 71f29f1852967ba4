// Whether anything leads into a server. Pure.
import type { KubeObject, StatusCondition } from '../runtime/kube.ts';
import type { Verdict } from '../schemas/conditions.ts';
import { type Check, judge, type Looked, no, yes } from './checks.ts';
import { childOf } from './observed.ts';

const ROUTE = ['Accepted', 'ResolvedRefs'];

/** Conditions of the route that its Gateways gave: they take it, and find what it leads to. */
function parentsOf(route: KubeObject | undefined): StatusCondition[] {
  const { parents = [] } = (route?.status ?? {}) as { parents?: { conditions?: StatusCondition[] }[] };
  return parents.flatMap(({ conditions = [] }) => conditions.filter(({ type }) => ROUTE.includes(type)));
}

const gateway: Check = ({ server, seen }) => {
  if (!server.spec.gateway) return undefined;
  if (!seen.served.has('HTTPRoute'))
    return no('NotServed', 'spec.gateway needs the CRDs of the Gateway API: install them');
  const said = parentsOf(childOf(seen, 'HTTPRoute', server.name));
  const refused = said.find(({ status }) => status !== 'True');
  if (refused) return no('NotAccepted', `a Gateway refuses the HTTPRoute: ${refused.message ?? refused.reason ?? ''}`);
  return said.length > 0
    ? yes('Accepted', 'The Gateway takes it')
    : no('NotAccepted', 'No Gateway has taken the HTTPRoute: check parentRefs');
};

const address: Check = ({ server, seen }) => {
  if (!server.spec.ingress) return no('NoneAsked', 'neither spec.ingress nor spec.gateway is set');
  const there = childOf(seen, 'Ingress', server.name);
  const { loadBalancer } = (there?.status ?? {}) as { loadBalancer?: { ingress?: unknown[] } };
  if ((loadBalancer?.ingress ?? []).length > 0) return yes('Accepted', 'The Ingress has an address');
  return no('NoAddress', 'The Ingress has no address: is an ingress controller installed, and does className name it?');
};

export const ingress = (looked: Looked): Verdict => judge('IngressReady', looked, [gateway, address]);
