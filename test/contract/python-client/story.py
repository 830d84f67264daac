"""What somebody writes who has nothing but the generated client. Prints what it was answered."""

import json
import sys

import parallax_client as parallax

host, target = sys.argv[1:]


def client_of(**headers):
    client = parallax.ApiClient(parallax.Configuration(host=host))
    for name, value in headers.items():
        client.set_default_header(name.replace('_', '-'), value)
    return client


def problem_of(call):
    """Status, code and first place of the error that a call is answered."""
    try:
        call()
    except parallax.ApiException as error:
        problem = client_of().deserialize(SimpleBody(error.body), 'Problem')
        return [error.status, problem.code, problem.errors[0].path if problem.errors else None]
    return None


class SimpleBody:
    def __init__(self, data):
        self.data = data


def refused_by_client(make):
    try:
        make()
    except ValueError:
        return True
    return False


credentials = {'email': 'python@example.com', 'password': 'a long password of python'}
accounts = parallax.AccountsApi(client_of())
registered = accounts.post_auth_register(parallax.RegisterRequest(**credentials))
wrong = {**credentials, 'password': 'another one of some length'}
stranger = problem_of(lambda: accounts.post_auth_login(parallax.LoginRequest(**wrong)))
configuration = parallax.Configuration(host=host)
configuration.access_token = accounts.post_auth_login(parallax.LoginRequest(**credentials)).access_token
client = parallax.ApiClient(configuration)

workspaces = parallax.WorkspacesApi(client)
workspace = workspaces.post_workspaces(parallax.CreateWorkspaceRequest(name='from Python'))
of_account = workspaces.get_workspaces()

by_key = parallax.Configuration(host=host)
by_key.api_key['X-API-Key'] = parallax.APIKeysApi(client).post_api_keys(parallax.CreateApiKeyRequest(name='python')).key
reader = parallax.MonitorsApi(parallax.ApiClient(by_key))

monitors = parallax.MonitorsApi(client)
wanted = parallax.CreateMonitor(workspace_id=workspace.id, name='generated', url=target, consensus_policy='any')
monitor, status, headers = monitors.post_monitors_with_http_info(wanted, idempotency_key='python')
again = monitors.post_monitors(wanted, idempotency_key='python')
etag = headers['ETag']
changed = monitors.patch_monitors_by_monitor_id(monitor.id, parallax.UpdateMonitor(name='renamed'), if_match=etag)
stale = problem_of(
    lambda: monitors.patch_monitors_by_monitor_id(monitor.id, parallax.UpdateMonitor(name='late'), if_match=etag)
)


def too_often(checks_limits):
    limits = parallax.Configuration(host=host)
    limits.client_side_validation = checks_limits
    return parallax.CreateMonitor(
        workspace_id=workspace.id, name='often', url=target, interval_seconds=0, local_vars_configuration=limits
    )


refused = problem_of(lambda: monitors.post_monitors(too_often(False)))
absent = problem_of(lambda: reader.get_monitors_by_monitor_id(2147483647))
page = reader.get_monitors(search='renamed', page_size=5)
read = reader.get_monitors_by_monitor_id(monitor.id)
removed = monitors.delete_monitors_by_monitor_id_with_http_info(monitor.id)[1]

print(json.dumps({
    'registered': registered.email,
    'stranger': stranger,
    'workspaces': sorted(each.name for each in of_account.workspaces if each.id == workspace.id),
    'made': [status, type(monitor).__name__, monitor.consensus_policy, type(monitor.created_at).__name__],
    'location': headers['Location'] == '/api/v1/monitors/%d' % monitor.id,
    'again': again.id == monitor.id,
    'changed': [changed.name, changed.version],
    'stale': stale,
    'refused': refused,
    'refused_by_client': refused_by_client(lambda: too_often(True)),
    'absent': absent,
    'listed': [page.total, [each.name for each in page.monitors]],
    'read': read == page.monitors[0],
    'removed': removed,
}))
