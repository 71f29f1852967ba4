import { expect } from 'chai';
import { managed } from './specs.ts';
import { mediaServer, secret, World } from './support.ts';

describe('a managed store that the spec no longer has', () => {
  const running = async (): Promise<World> => {
    const world = new World(mediaServer(managed));
    await world.settle();
    return world;
  };
  const external = { redis: { secretRef: { name: 'cache', key: 'uri' } } };

  it('stays, with its Secret, while the spec that removes it has a fault', async () => {
    const world = await running();
    world.change(external);
    await world.settle();
    expect(world.condition('Stalled')).to.equal('True SecretMissing');
    expect(world.names('StatefulSet')).to.include('home-redis');
    expect(world.names('Secret')).to.include('home-redis');
    expect(world.names('NetworkPolicy')).to.include('home-redis');
  });

  it('stays until the migration of its replacement is through, and goes after that was rolled out', async () => {
    const world = await running();
    world.kube.put(secret('cache', { uri: 'redis://cache.example:6379' }));
    world.change(external);
    await world.settle({ stuck: ['migrate'] });
    expect(world.names('StatefulSet')).to.include('home-redis');
    await world.settle();
    expect(world.names('StatefulSet')).to.not.include('home-redis');
    expect(world.names('Secret')).to.not.include('home-redis');
    expect(world.condition('Ready')).to.equal('True AllReady');
  });
});
