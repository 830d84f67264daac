import t from 'tap';
import { readMigrations } from './migrate.ts';

/** Databases out there have run these: whatever a later version needs, it changes by a migration of its own. */
const released = {
  '0001_roles.sql': '06086e4cddb85faf2bb55f8fa50b8f6d0149842df891215446ea65538d504553',
  '0002_installation.sql': '1a6cf89673c272580fd7acd67a0c56a0ba8cf3ff1895fca8c9286c2b3eea023d',
  '0003_identity.sql': 'a9cde208bd2041ef369937a6a2b03fd87b9aaa53ced311caba8d92ad4daecee2',
  '0004_monitoring.sql': '906ab8db16b9ba231ba6445aa0dbe7eec6164964be6760560583edf61964f785',
  '0005_response.sql': 'c878ee9fb55987486b29247b70f53b28891f00988f30c3906835804daff40e14',
  '0006_identity_lookups.sql': '5eccf52e2a34dffce7fa58b4e87fb03dd692d78741929a9413b96c84d283b021',
};

t.test('a released migration is never edited', async (t) => {
  const migrations = await readMigrations();
  const found = Object.fromEntries(migrations.slice(0, 6).map(({ name, checksum }) => [name, checksum]));
  t.same(found, released);
});
