check --property=ClusterOutlined %s
