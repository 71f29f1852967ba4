// Every metric that a rule or a dashboard of manifests/ asks for is one that the operator tells.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { Registry, register } from 'prom-client';
import { parse, parseAllDocuments } from 'yaml';
import { servePoolMetrics } from '#areas/streaming/pool-metrics.ts';
import type { KubeObject } from '#operator/runtime/kube.ts';
import { newMetrics, processMetrics } from '#operator/runtime/metrics.ts';
import { running, specOf, specs } from '../operator/media-server/specs.ts';
import '#platform/metrics.ts';

interface Rules {
  groups: { rules: { alert: string; annotations: Record<string, string> }[] }[];
}
const rulesOf = ({ groups }: Rules) => groups.flatMap(({ rules }) => rules);

/** What somebody does about it is not what it says. */
function expectRunbooks(rules: ReturnType<typeof rulesOf>): void {
  expect(rules.length).to.be.greaterThan(2);
  for (const { alert, annotations } of rules) {
    expect(annotations.summary, alert).to.match(/^[A-Z]/);
    expect(annotations.runbook?.length, alert).to.be.greaterThan(80);
  }
}

describe('rules and dashboards of the operator', () => {
  it('ask for metrics that are there', async () => {
    const metrics = newMetrics();
    processMetrics(metrics);
    const told = (await metrics.registry.getMetricsAsJSON()).flatMap(({ name, type }) =>
      String(type) === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    );
    const texts = ['operator.json', 'operator.yaml'].map((name) =>
      readFileSync(`manifests/dashboards/${name}`, 'utf8'),
    );
    const asked = [...texts.join('\n').matchAll(/([a-z_]+)\{service=/g)].map(([, name]) => name ?? '');
    expect(asked.length).to.be.greaterThan(8);
    expect(told).to.include.members(asked);
  });

  it('say of each alert what to do', () => {
    const documents = parseAllDocuments(readFileSync('manifests/dashboards/operator.yaml', 'utf8'));
    const objects = documents.map((document) => document.toJS() as KubeObject);
    expectRunbooks(
      objects.filter(({ kind }) => kind === 'PrometheusRule').flatMap(({ spec }) => rulesOf(spec as Rules)),
    );
  });
});

describe('rules and dashboard of a server', () => {
  it('ask for metrics that its API tells, of its own Service', async () => {
    const here = await running(specs.monitored);
    const [dashboard = ''] = Object.values(here.kube.get('ConfigMap', 'media', 'home-dashboard')?.data as object);
    const text = `${JSON.stringify(specOf(here, 'PrometheusRule', 'home'))}${dashboard}`.replaceAll('\\', '');
    const asked = [...text.matchAll(/([a-z_]+)\{([^}]*)\}/g)];
    expect(asked.length).to.be.greaterThan(8);
    const pool = new Registry();
    servePoolMetrics({} as never, pool);
    const known = (name: string) => register.getSingleMetric(name) ?? pool.getSingleMetric(name);
    for (const [, name = '', labels = ''] of asked) {
      expect(labels).to.contain('namespace="media",service="home-api"');
      const told = known(name) ?? known(name.replace(/_bucket$/, ''));
      if (!['up', 'process_resident_memory_bytes'].includes(name)) expect(told, name).to.not.equal(undefined);
    }
    expect(parse(dashboard)).to.have.property('panels');
  });

  it('say of each alert what to do', async () => {
    expectRunbooks(rulesOf(specOf(await running(specs.monitored), 'PrometheusRule', 'home') as unknown as Rules));
  });
});
