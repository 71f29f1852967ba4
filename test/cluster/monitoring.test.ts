// Every metric that a rule or a dashboard of manifests/ asks for is one that the operator tells.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { newMetrics, processMetrics } from '#operator/runtime/metrics.ts';

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
});
