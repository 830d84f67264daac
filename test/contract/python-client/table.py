"""Calls the operations that stand in a file of JSON, one after the other, and prints what each was answered."""

import functools
import inspect
import json
import keyword
import re
import sys
from types import SimpleNamespace

import parallax_client as parallax

host, token, calls_file = sys.argv[1:]

# Each operation of the document is a method of one of the classes, under its own name.
classes = {
    name: one
    for _, one in inspect.getmembers(parallax, inspect.isclass)
    if one.__name__.endswith('Api')
    for name, _ in inspect.getmembers(one, inspect.isfunction)
}


def python_name(name):
    spelled = re.sub(r'[^a-z0-9]+', '_', name.lower()).strip('_')
    return '_' + spelled if keyword.iskeyword(spelled) else spelled


def body_of(method):
    """Name and type of the parameter that is the body: it has the type of a class, or a name that the generator keeps for it."""
    kinds = {name: kind for kind, name in re.findall(r':param (.+?) (\w+):', inspect.getdoc(method))}
    names = [name for name, kind in kinds.items() if hasattr(parallax, kind)]
    name = (names or [name for name in ('request_body', 'body', 'file') if name in kinds])[0]
    return name, kinds[name]


def given_body(client, name, kind, body, media_type):
    """A body as the client takes it: objects of the classes that the document names, a text, or the name of a file that it uploads."""
    if kind != 'file':
        return client.deserialize(SimpleNamespace(data=json.dumps(body)), kind)
    if media_type == 'application/json' and name != 'file':
        return body
    # As JavaScript writes it, which has signed it.
    text = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False, separators=(',', ':'))
    if name != 'file':
        return text
    with open('%s.upload' % calls_file, 'w', newline='') as file:
        file.write(text)
    return file.name


def make(call):
    configuration = parallax.Configuration(host=host)
    configuration.access_token = call.get('token', token)
    with parallax.ApiClient(configuration) as client:
        # A redirect is an answer here, and leads out of this machine.
        pool = client.rest_client.pool_manager
        pool.request = functools.partial(pool.request, redirect=False)
        method = getattr(classes[call['operation']](client), call['operation'] + '_with_http_info')
        parts = [call[part].items() for part in ('path', 'query', 'header')]
        given = {python_name(name): value for part in parts for name, value in part}
        if 'body' in call:
            name, kind = body_of(method)
            given[name] = given_body(client, name, kind, call['body'], call['mediaType'])
        for name, value in call['otherHeaders'].items():
            client.set_default_header(name, value)
        if 'file' in given or 'body' in given:
            # The client names JSON wherever it may, even while it sends a form, and writes a text as JSON then.
            client.default_headers.pop('content-type', None)
            client.set_default_header('Content-Type', 'multipart/form-data' if 'file' in given else call['mediaType'])
        _, status, _ = method(**given, _request_timeout=30)
        return status


answered = {}
with open(calls_file) as file:
    calls = json.load(file)
for call in calls:
    try:
        answered[call['name']] = make(call)
    except parallax.ApiException as error:
        answered[call['name']] = error.status if error.status < 400 else [error.status, str(error.body)]
    except Exception as error:
        answered[call['name']] = '%s: %s' % (type(error).__name__, error)
print(json.dumps(answered))
