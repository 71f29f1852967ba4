// Whether the server is reachable from outside. Pure.
import type { KubeObject, StatusCondition } from '../runtime/kube.ts';
import type { Verdict } from '../schemas/conditions.ts';
import { type Check, type CheckInput, judge, no, yes } from './checks.ts';
import { childOf } from './observed.ts';

const ROUTE = ['Accepted', 'ResolvedRefs'];

/** Conditions of the route that report whether its Gateways accept it and its backends resolve. */
function parentsOf(route: KubeObject | undefined): StatusCondition[] {
  const { parents = [] } = (route?.status ?? {}) as { parents?: { conditions?: StatusCondition[] }[] };
  return parents.flatMap(({ conditions = [] }) => conditions.filter(({ type }) => ROUTE.includes(type)));
}

const gateway: Check = ({ server, observed }) => {
  if (!server.spec.gateway) return undefined;
  if (!observed.served.has('HTTPRoute'))
    return no('NotServed', 'spec.gateway needs the CRDs of the Gateway API: install them');
  const conditions = parentsOf(childOf(observed, 'HTTPRoute', server.name));
  const refused = conditions.find(({ status }) => status !== 'True');
  if (refused) return no('NotAccepted', `a Gateway refuses the HTTPRoute: ${refused.message ?? refused.reason ?? ''}`);
  return conditions.length > 0
    ? yes('Accepted', 'The Gateway accepts it')
    : no('NotAccepted', 'No Gateway has accepted the HTTPRoute: check parentRefs');
};

const address: Check = ({ server, observed }) => {
  if (!server.spec.ingress) return no('NoneAsked', 'neither spec.ingress nor spec.gateway is set');
  const there = childOf(observed, 'Ingress', server.name);
  const { loadBalancer } = (there?.status ?? {}) as { loadBalancer?: { ingress?: unknown[] } };
  if ((loadBalancer?.ingress ?? []).length > 0) return yes('Accepted', 'The Ingress has an address');
  return no('NoAddress', 'The Ingress has no address: is an ingress controller installed, and does className name it?');
};

export const ingress = (input: CheckInput): Verdict => judge('IngressReady', input, [gateway, address]);
