import { expect } from 'chai';
import { Client, type LifecycleConfig } from 'minio';
import { connectObjects } from '#platform/objects.ts';
import { ACCESS, SECRET, startS3 } from '#support/s3.ts';
import { objectsSuite } from './objects.suite.ts';

describe('objects on a real S3 server', function () {
  this.timeout(120_000);
  let url: Promise<string> | undefined;
  const server = (): Promise<string> => {
    url ??= startS3();
    return url;
  };
  objectsSuite(async () => connectObjects(await server()));

  it('gives the bucket of segments an expiry of a day, and leaves rules that an admin made', async () => {
    const { port } = new URL(await server());
    const client = new Client({
      endPoint: '127.0.0.1',
      port: Number(port),
      useSSL: false,
      accessKey: ACCESS,
      secretKey: SECRET,
    });
    const days = async () => {
      await connectObjects(await server()).prepare(['foyer-transcode']);
      const { Rule } = (await client.getBucketLifecycle('t-foyer-transcode')) as unknown as LifecycleConfig;
      return [Rule].flat().map((rule) => [rule.ID, Number(rule.Expiration?.Days)]);
    };
    expect(await days()).to.deep.equal([['foyer-expiry', 1]]);
    const own = { ID: 'own', Status: 'Enabled', Filter: { Prefix: '' }, Expiration: { Days: 3 } };
    await client.setBucketLifecycle('t-foyer-transcode', { Rule: [own] });
    expect(await days()).to.deep.equal([['own', 3]]);
  });
});
