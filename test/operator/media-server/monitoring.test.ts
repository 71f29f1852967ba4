import { expect } from 'chai';
import { managed, named, running, specOf, specs } from './specs.ts';
import { MemoryKube, mediaServer, World } from './support.ts';

interface Policy {
  ingress: { from: { namespaceSelector: object; podSelector?: object }[] }[];
}

describe('spec.monitoring', () => {
  it('reports which definitions it lacks, and nothing where it requires none', async () => {
    expect((await running()).condition('MonitoringReady')).to.equal('absent');
    expect((await running(specs.monitored)).condition('MonitoringReady')).to.equal('True Valid');
    const bare = new World(mediaServer(specs.monitored ?? {}), new MemoryKube(['ServiceMonitor']).put(...named));
    await bare.settle();
    expect(bare.condition('MonitoringReady')).to.equal('False NotServed');
    expect(bare.message('MonitoringReady')).to.match(/^PrometheusRule cannot be created: install/);
    expect(bare.condition('Degraded'), 'the server works').to.equal('False AllReady');
    expect(bare.names('ConfigMap')).to.include('home-dashboard');
  });

  it('lets Prometheus scrape, whichever part is enabled', async () => {
    const open = async (monitoring: object): Promise<boolean> => {
      const here = await running({ ...managed, monitoring });
      const { ingress } = specOf(here, 'NetworkPolicy', 'home-metrics') as unknown as Policy;
      return ingress[0]?.from.some(({ podSelector }) => podSelector === undefined) ?? false;
    };
    expect(await open({})).to.equal(false);
    for (const part of ['serviceMonitor', 'prometheusRule', 'dashboard'])
      expect(await open({ [part]: true }), part).to.equal(true);
  });
});
