// Every metric that a rule or a dashboard of manifests/ queries is one that the operator exposes.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { Registry, register } from 'prom-client';
import { parse, parseAllDocuments } from 'yaml';
import { servePoolMetrics } from '#areas/streaming/sessions/pool-metrics.ts';
import { type ClusterOptions, controllersOf } from '#operator/cluster.ts';
import type { KubeObject } from '#operator/runtime/kube.ts';
import { newMetrics, processMetrics } from '#operator/runtime/metrics.ts';
import { running, specOf, specs } from '../operator/media-server/specs.ts';
import '#platform/metrics.ts';

interface Rules {
  groups: { rules: { alert: string; annotations: Record<string, string> }[] }[];
}
const rulesOf = ({ groups }: Rules) => groups.flatMap(({ rules }) => rules);

/** The remedy of an alert is not its meaning. */
function expectRunbooks(rules: ReturnType<typeof rulesOf>): void {
  expect(rules.length).to.be.greaterThan(2);
  for (const { alert, annotations } of rules) {
    expect(annotations.summary, alert).to.match(/^[A-Z]/);
    expect(annotations.runbook?.length, alert).to.be.greaterThan(80);
  }
}

describe('rules and dashboards of the operator', () => {
  it('query existing metrics', async () => {
    const metrics = newMetrics();
    processMetrics(metrics);
    const exposed = (await metrics.registry.getMetricsAsJSON()).flatMap(({ name, type }) =>
      String(type) === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    );
    const texts = ['operator.json', 'operator.yaml'].map((name) =>
      readFileSync(`manifests/dashboards/${name}`, 'utf8'),
    );
    const queried = [...texts.join('\n').matchAll(/([a-z_]+)\{service=/g)].map(([, name]) => name ?? '');
    expect(queried.length).to.be.greaterThan(8);
    expect(exposed).to.include.members(queried);
  });

  it('are few: names carry the unit, and labels are bounded', async () => {
    const all = await newMetrics().registry.getMetricsAsJSON();
    const bounded = ['code', 'controller', 'kind', 'method', 'name', 'namespace', 'reason', 'result', 'verb'];
    expect(all.length).to.be.greaterThan(10);
    for (const { name, type } of all) {
      if (String(type) === 'counter') expect(name).to.match(/_total$/);
      if (String(type) === 'histogram') expect(name).to.match(/_seconds$/);
      const metric = newMetrics().registry.getSingleMetric(name) as unknown as { labelNames: string[] };
      expect(bounded, name).to.include.members(metric.labelNames);
      if (metric.labelNames.includes('namespace')) expect(String(type), name).to.equal('gauge');
    }
  });

  it('come to fewer than 1,000 series, with each controller, kind and answer of the API server', async () => {
    const metrics = newMetrics();
    processMetrics(metrics);
    const controllers = controllersOf({ namespace: [], clusterNetwork: [], workers: 4 } as unknown as ClusterOptions);
    const kinds = new Set(controllers.flatMap(({ kind, watches }) => [kind, ...watches.map((one) => one.kind)]));
    for (const { kind, name = kind.toLowerCase() } of controllers) {
      for (const result of ['success', 'requeue_after', 'error']) metrics.reconciles.inc({ controller: name, result });
      metrics.reconcileErrors.inc({ controller: name });
      metrics.reconcileTime.observe({ controller: name }, 1);
      for (const gauge of [metrics.activeWorkers, metrics.maxWorkers]) gauge.set({ controller: name }, 1);
      const queue = { name, controller: name };
      metrics.queueDepth.set(queue, 1);
      for (const counter of [metrics.queueAdds, metrics.queueRetries]) counter.inc(queue);
      for (const time of [metrics.queueTime, metrics.workTime]) time.observe(queue, 1);
    }
    for (const kind of kinds) {
      for (const verb of ['create', 'apply', 'delete', 'status', 'finalizer']) metrics.writes.inc({ kind, verb });
      for (const reason of ['absent', 'ended', 'connection', 'malformed', 'expired', 'throttled', 'refused', 'stopped'])
        metrics.restarts.inc({ kind, reason });
      for (const gauge of [metrics.staleness, metrics.synced]) gauge.set({ kind, namespace: '' }, 1);
    }
    for (const code of ['200', '201', '400', '401', '403', '404', '409', '410', '422', '429', '500', '503', '504'])
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) metrics.requests.inc({ code, method });
    const series = (await metrics.registry.metrics()).split('\n').filter((line) => line && !line.startsWith('#'));
    expect(kinds.size).to.be.greaterThan(15);
    expect(series.length).to.be.below(1000);
  });

  it('give a remedy for each alert', () => {
    const documents = parseAllDocuments(readFileSync('manifests/dashboards/operator.yaml', 'utf8'));
    const objects = documents.map((document) => document.toJS() as KubeObject);
    expectRunbooks(
      objects.filter(({ kind }) => kind === 'PrometheusRule').flatMap(({ spec }) => rulesOf(spec as Rules)),
    );
  });
});

describe('rules and dashboard of a server', () => {
  it('query metrics that its API exposes, of its own Service', async () => {
    const here = await running(specs.monitored);
    const [dashboard = ''] = Object.values(here.kube.get('ConfigMap', 'media', 'home-dashboard')?.data as object);
    const text = `${JSON.stringify(specOf(here, 'PrometheusRule', 'home'))}${dashboard}`.replaceAll('\\', '');
    const queried = [...text.matchAll(/([a-z_]+)\{([^}]*)\}/g)];
    expect(queried.length).to.be.greaterThan(8);
    const pool = new Registry();
    servePoolMetrics({} as never, pool);
    const known = (name: string) => register.getSingleMetric(name) ?? pool.getSingleMetric(name);
    for (const [, name = '', labels = ''] of queried) {
      expect(labels).to.contain('namespace="media",service="home-api"');
      const exposed = known(name) ?? known(name.replace(/_bucket$/, ''));
      if (!['up', 'process_resident_memory_bytes'].includes(name)) expect(exposed, name).to.not.equal(undefined);
    }
    expect(parse(dashboard)).to.have.property('panels');
  });

  it('give a remedy for each alert', async () => {
    expectRunbooks(rulesOf(specOf(await running(specs.monitored), 'PrometheusRule', 'home') as unknown as Rules));
  });
});
